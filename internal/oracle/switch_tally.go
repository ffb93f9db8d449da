package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// SwitchTally counts the pairs of plans by kind and by outcome. It is safe for concurrent use.
type SwitchTally struct {
	mu       sync.Mutex
	outcomes map[string]int
	kinds    map[string]int
	pairs    int
}

func newSwitchTally() *SwitchTally {
	return &SwitchTally{outcomes: map[string]int{}, kinds: map[string]int{}}
}

// add counts one pair. A pair that the API server refuses to create is not counted as a pair.
func (t *SwitchTally) add(k *Kind, outcome string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outcomes[outcome]++
	if outcome == "invalid" {
		return
	}
	name := k.gvk.Kind
	if k.custom {
		name = "generated kinds"
	}
	t.kinds[name]++
	t.pairs++
}

// Pairs returns the number of valid pairs.
func (t *SwitchTally) Pairs() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pairs
}

// String lists the counts.
func (t *SwitchTally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := []string{fmt.Sprintf("%d pairs", t.pairs)}
	for _, counts := range []map[string]int{t.outcomes, t.kinds} {
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			lines = append(lines, fmt.Sprintf("%7d %s", counts[name], name))
		}
	}
	return strings.Join(lines, "\n")
}
