package description_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
)

// TestSequences checks the baselines of a system, and the steps that can happen while no process runs.
func TestSequences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		system    description.System
		sequences string
		after     map[description.Step]string
	}{
		"one owner": {
			description.System{Owners: owners(1)}, "A; A delete; A delete A", map[description.Step]string{"A": "delete", "B": "delete", "delete": ""},
		},
		"an owner that changes": {
			description.System{Owners: owners(1), Change: change},
			"A; B; A B; A B A; A B A B; A delete; B delete; A delete A",
			map[description.Step]string{"A": "B delete", "B": "A delete", "less": "delete", "delete": ""},
		},
		"several owners": {
			description.System{Owners: owners(2)}, "A; less; A less; A less A; A delete; A delete A", map[description.Step]string{"A": "delete", "less": "delete"},
		},
		"a singleton": {description.System{Singleton: &description.Singleton{}}, "A", map[description.Step]string{"A": ""}},
		"a singleton with inputs": {
			description.System{Singleton: &description.Singleton{Inputs: owners(2)}},
			"A; less; A less; A less A; delete; A delete; less delete; A delete A",
			map[description.Step]string{"A": "delete", "off": "A"},
		},
		"a singleton that can be off": {
			description.System{Singleton: &description.Singleton{Off: nothing}}, "A; off; A off; A off A", map[description.Step]string{"A": "off", "B": "off", "off": "A"},
		},
		"a singleton that changes, with inputs, and can be off": {
			description.System{Singleton: &description.Singleton{Off: nothing, Inputs: owners(1)}, Change: change},
			"A; B; A B; A B A; A B A B; delete; A delete; B delete; A delete A; off; A off; B off; A off A",
			map[description.Step]string{"A": "B delete off", "B": "A delete off", "off": "A"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := description.Prepared{System: c.system}
			var got []string
			for _, spec := range p.Sequences() {
				got = append(got, strings.Trim(fmt.Sprint(spec), "[]"))
			}
			if diff := cmp.Diff(c.sequences, strings.Join(got, "; ")); diff != "" {
				t.Errorf("plots (-want +got):\n%s", diff)
			}
			for last, want := range c.after {
				if next := strings.Trim(fmt.Sprint(p.After(last)), "[]"); next != want {
					t.Errorf("after %s: %q, want %q", last, next, want)
				}
			}
		})
	}
}
