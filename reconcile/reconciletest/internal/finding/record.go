package finding

import (
	"fmt"
	"slices"
	"sync"
)

// Record keeps what was found, by several runs at a time.
type Record struct {
	// Until ends the search early with a finding that is the one looked for; nil looks for all.
	Until func(Finding) bool

	mu       sync.Mutex
	findings []Finding
	notes    []string
	enough   bool
}

// Note notes what is worth a look and no finding.
func (r *Record) Note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// Notes are those of now, sorted, each once.
func (r *Record) Notes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(r.notes)))
}

// Find notes a finding.
func (r *Record) Find(name string, check Check, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := Finding{Case: name, Check: check, Message: fmt.Sprintf(format, args...)}
	r.findings = append(r.findings, found)
	r.enough = r.enough || r.Until != nil && r.Until(found)
}

// Done reports that what was looked for is found.
func (r *Record) Done() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.enough
}

// Findings are those of now, in the order in which they came.
func (r *Record) Findings() []Finding {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.findings
}
