package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Tally counts the events of the sequences. It is safe for concurrent use.
type Tally struct {
	mu       sync.Mutex
	cases    int
	checks   int
	events   map[string]int
	outcomes map[string]int
	kinds    map[string]*kindTally
	examples []string
}

type kindTally struct{ cases, writes, needless int }

// mostExamples is the maximum number of recorded needless writes.
const mostExamples = 20

func newTally() *Tally {
	return &Tally{events: map[string]int{}, outcomes: map[string]int{}, kinds: map[string]*kindTally{}}
}

func (t *Tally) kind(k *Kind) *kindTally {
	name := k.gvk.Kind
	if k.custom {
		name = "generated kinds"
	}
	if t.kinds[name] == nil {
		t.kinds[name] = &kindTally{}
	}
	return t.kinds[name]
}

func (t *Tally) event(name string, k *Kind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events[name]++
	t.cases++
	t.kind(k).cases++
}

func (t *Tally) outcome(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outcomes[name]++
}

func (t *Tally) check() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.checks++
}

// write counts a write, and records the sequence of a needless one.
func (t *Tally) write(c *child, needless bool, lines []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.kind(c.kind)
	k.writes++
	if !needless {
		return
	}
	k.needless++
	if len(t.examples) < mostExamples {
		t.examples = append(t.examples, strings.Join(append(lines[max(0, len(lines)-4):], "   plan: "+full(c.now.content)), "\n"))
	}
}

// Cases returns the number of cases: a change of the plan, a write of another client or a restart, with the following passes and the
// check.
func (t *Tally) Cases() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cases
}

// Examples returns the ends of sequences with a needless write.
func (t *Tally) Examples() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.examples)
}

// String formats the figures.
func (t *Tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d cases, %d comparisons with a dry run\n", t.cases, t.checks)
	fmt.Fprintf(&b, "%-26s %8s %8s %9s\n", "kind", "cases", "writes", "needless")
	for _, name := range slices.Sorted(maps.Keys(t.kinds)) {
		k := t.kinds[name]
		fmt.Fprintf(&b, "%-26s %8d %8d %9d\n", name, k.cases, k.writes, k.needless)
	}
	b.WriteString("events: " + counts(t.events) + "\noutcomes: " + counts(t.outcomes) + "\n")
	return b.String()
}

func counts(m map[string]int) string {
	parts := make([]string, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, m[name]))
	}
	return strings.Join(parts, ", ")
}
