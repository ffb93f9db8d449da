// Package report contains the results of a run: the rows of results.json, the tables, and the checks of the promised limits.
package report

import (
	"encoding/json"
	"os"

	"github.com/reconcilekit/reconcilekit/benchmarks/worker"
)

// Row is the result of one subject in one scenario. In the scenario steady the figures are per pass; in the others they are totals.
type Row struct {
	Scenario string `json:"scenario"`
	Subject  string `json:"subject"`
	// Owners is the number of owners, Children the number of children of each.
	Owners   int `json:"owners"`
	Children int `json:"children"`
	// Reads are gets and lists at the API server, Writes the writes of children and of the owners' metadata, StatusWrites those of the
	// owners' status. Dry runs are not included.
	Reads        float64 `json:"reads"`
	Writes       float64 `json:"writes"`
	StatusWrites float64 `json:"statusWrites"`
	// Microseconds is the wall-clock time, Allocs and Bytes the heap allocations, PeakBytes the peak of the resident
	// memory of the subject's process.
	Microseconds float64 `json:"microseconds"`
	Allocs       uint64  `json:"allocs"`
	Bytes        uint64  `json:"bytes"`
	PeakBytes    uint64  `json:"peakBytes"`

	// WritesPerChild are the writes of children for each child.
	WritesPerChild  float64 `json:"writesPerChild"`
	ChildWrites     float64 `json:"childWrites"`
	OwnerWrites     float64 `json:"ownerWrites"`
	DryRuns         float64 `json:"dryRuns"`
	Failed          float64 `json:"failed"`
	CPUMicroseconds float64 `json:"cpuMicroseconds"`
	SentBytes       int64   `json:"sentBytes"`
	HeapBytes       uint64  `json:"heapBytes"`
	Passes          int64   `json:"passes"`
	// Requests are all requests except watches, by verb, resource and kind.
	Requests map[string]float64 `json:"requests"`
	// Expected is the number of necessary writes: the edited children of drift. Left is the number of edits that were not repaired, of
	// orphans after prune, or of differences after the outage.
	Expected int `json:"expected,omitempty"`
	Left     int `json:"left"`
	// KeptBytesPerChild is the heap in addition to that of a process that only reads the same world, in restart.
	KeptBytesPerChild *float64 `json:"keptBytesPerChild,omitempty"`
	// HeapTimes is the heap after a restart with unrelated objects relative to that without, in foreign.
	HeapTimes float64 `json:"heapTimes,omitempty"`
}

// NewRow returns the row of a measurement.
func NewRow(scenario, subject string, owners, children int, m *worker.Measurement) Row {
	row := Row{
		Scenario: scenario, Subject: subject, Owners: owners, Children: children,
		Reads: m.Reads, Writes: m.Writes(), StatusWrites: m.StatusWrites,
		Microseconds: float64(m.Wall.Nanoseconds()) / 1e3, Allocs: m.Allocs, Bytes: m.Bytes, PeakBytes: m.PeakBytes,
		ChildWrites: m.ChildWrites, OwnerWrites: m.OwnerWrites, DryRuns: m.DryRuns, Failed: m.Failed,
		CPUMicroseconds: float64(m.CPU.Nanoseconds()) / 1e3, SentBytes: m.SentBytes, HeapBytes: m.HeapBytes,
		Passes: m.Passes, Requests: m.Requests,
	}
	if total := owners * children; total > 0 {
		row.WritesPerChild = m.ChildWrites / float64(total)
	}
	return row
}

// Results is the content of results.json.
type Results struct {
	// Command and Date describe how and when the results were produced, Machine where.
	Command string `json:"command"`
	Date    string `json:"date"`
	Machine string `json:"machine"`
	Rows    []Row  `json:"rows"`
	// Violations are the exceeded limits.
	Violations []string `json:"violations"`
}

// Save writes the results as JSON.
func (r *Results) Save(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}
