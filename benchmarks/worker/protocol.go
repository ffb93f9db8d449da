// Package worker is the process of one subject. It is separate from the harness and from the other subjects, so that its requests, CPU
// and memory can be measured. The harness starts it, sends commands as JSON lines to its standard input, and reads one measurement for
// each from its standard output.
package worker

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Command is a command of the harness.
type Command struct {
	// Do is one of the Do constants.
	Do string `json:"do"`
	// Owner names the owner for [DoSteady].
	Owner client.ObjectKey `json:"owner,omitzero"`
}

// The commands.
const (
	// DoSettle waits until all owners were reconciled and the worker is idle, and measures the time since the last command.
	DoSettle = "settle"
	// DoReset starts a new measurement.
	DoReset = "reset"
	// DoSteady runs reconciliations of one owner and measures one of them. The first time it first brings the owner to steady state. It
	// requires a worker without a controller.
	DoSteady = "steady"
)

// Measurement is the resource usage of a subject in one phase or, for [DoSteady], in one pass.
type Measurement struct {
	// Requests are the requests by kind, in the format of traffic.Kind. Watches are omitted.
	Requests map[string]float64 `json:"requests"`
	// Reads are gets and lists, DryRuns writes that stored nothing, ChildWrites, OwnerWrites and StatusWrites writes of
	// children, of the owners' metadata and of the owners' status. Failed requests count in all of them, and in Failed.
	Reads        float64 `json:"reads"`
	DryRuns      float64 `json:"dryRuns"`
	ChildWrites  float64 `json:"childWrites"`
	OwnerWrites  float64 `json:"ownerWrites"`
	StatusWrites float64 `json:"statusWrites"`
	Failed       float64 `json:"failed"`
	// Passes is the number of reconciliations, Errors that of failed ones.
	Passes int64 `json:"passes"`
	Errors int64 `json:"errors"`
	// Wall is the time until the last activity, CPU that of the process.
	Wall time.Duration `json:"wall"`
	CPU  time.Duration `json:"cpu"`
	// Allocs and Bytes are heap allocations.
	Allocs uint64 `json:"allocs"`
	Bytes  uint64 `json:"bytes"`
	// SentBytes is the total size of the request bodies.
	SentBytes int64 `json:"sentBytes"`
	// PeakBytes is the peak of the resident memory, HeapBytes the live heap at the end.
	PeakBytes uint64 `json:"peakBytes"`
	HeapBytes uint64 `json:"heapBytes"`
	// Error reports why the measurement failed.
	Error string `json:"error,omitempty"`
}

// Writes returns the number of writes of children and of the owners' metadata.
func (m *Measurement) Writes() float64 { return m.ChildWrites + m.OwnerWrites }
