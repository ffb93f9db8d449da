package trigger_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
)

func named(s string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: s} }

// TestStatusWrites checks that the event of the controller's own write enqueues no owner, and that the event of
// another change enqueues it once, in any order of the response and the events.
func TestStatusWrites(t *testing.T) {
	t.Parallel()
	owner := named("owner")
	var woken []string
	type memory = trigger.StatusWrites
	event := func(version string) func(*memory) {
		return func(m *memory) { m.Event(owner, version, func() { woken = append(woken, version) }) }
	}
	begin := func(m *memory) { m.Begin(owner) }
	end := func(version string) func(*memory) { return func(m *memory) { m.End(owner, version) } }
	for label, c := range map[string]struct {
		steps []func(*memory)
		want  []string
		left  int
	}{
		"the event after the answer":        {[]func(*memory){begin, end("2"), event("2")}, nil, 0},
		"the event before the answer":       {[]func(*memory){begin, event("2"), end("2")}, nil, 0},
		"no event yet":                      {[]func(*memory){begin, end("2")}, nil, 1},
		"another change before the write":   {[]func(*memory){begin, event("2"), end("3"), event("3")}, []string{"2"}, 0},
		"another change after the write":    {[]func(*memory){begin, event("2"), event("3"), end("2")}, []string{"3"}, 0},
		"another change, nothing written":   {[]func(*memory){event("2")}, []string{"2"}, 0},
		"another change and a refused one":  {[]func(*memory){begin, event("2"), end("")}, []string{"2"}, 0},
		"a write whose event came late":     {[]func(*memory){begin, end("2"), begin, event("2"), event("3"), end("3")}, nil, 0},
		"the event of a write that is past": {[]func(*memory){begin, end("2"), event("2"), event("4")}, []string{"4"}, 0},
	} {
		woken = nil
		m := &memory{}
		for _, step := range c.steps {
			step(m)
		}
		if !slices.Equal(woken, c.want) || m.Len() != c.left {
			t.Errorf("%s: want the wakes %v and %d owners, got %v and %d", label, c.want, c.left, woken, m.Len())
		}
		m.Forget(owner)
		if m.Len() != 0 {
			t.Errorf("%s: the owner is not forgotten", label)
		}
	}
}
