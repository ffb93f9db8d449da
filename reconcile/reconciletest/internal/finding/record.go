package finding

import (
	"fmt"
	"slices"
	"sync"
)

// Record collects findings of concurrent runs.
type Record struct {
	// Until ends the search at a matching finding; nil finds all.
	Until func(Finding) bool

	mu       sync.Mutex
	findings []Finding
	notes    []string
	enough   bool
}

// Note adds a note: an observation that is not a finding.
func (r *Record) Note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// Notes returns the notes so far, sorted, without duplicates.
func (r *Record) Notes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(r.notes)))
}

// Find adds a finding.
func (r *Record) Find(name string, check Check, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := Finding{Case: name, Check: check, Message: fmt.Sprintf(format, args...)}
	r.findings = append(r.findings, found)
	r.enough = r.enough || r.Until != nil && r.Until(found)
}

// Done reports whether Until has matched.
func (r *Record) Done() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.enough
}

// Findings returns the findings so far, in order.
func (r *Record) Findings() []Finding {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.findings
}
