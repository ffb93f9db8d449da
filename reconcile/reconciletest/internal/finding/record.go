package finding

import (
	"fmt"
	"sync"
)

// Record keeps what was found, by several runs at a time.
type Record struct {
	// Until ends the search early with a finding that is the one looked for; nil looks for all.
	Until func(Finding) bool

	mu       sync.Mutex
	findings []Finding
	enough   bool
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
