package transition_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/transition"
)

type table = transition.Table[string, string, string]

// job returns a valid table.
func job() table {
	return table{
		Name:   "Job",
		States: []string{"pending", "running", "done", "suspended"},
		Facts:  []string{"absent", "alive", "ended"},
		Always: map[string]string{"done": "rest", "suspended": "stop"},
		Actions: map[string]map[string]string{
			"pending":   {"absent": "create", "alive": "follow", "ended": "finish"},
			"running":   {"absent": "create", "alive": "follow", "ended": "finish"},
			"suspended": {"absent": "rest"},
		},
		Leads:   map[string][]string{"follow": {"running"}, "finish": {"done"}},
		Entered: []string{"suspended"},
	}
}

func TestAction(t *testing.T) {
	t.Parallel()
	for at, want := range map[[2]string]string{
		{"pending", "absent"}: "create", {"done", "alive"}: "rest", {"suspended", "alive"}: "stop", {"suspended", "absent"}: "rest", {"x", "y"}: "",
	} {
		if got := job().Action(at[0], at[1]); got != want {
			t.Errorf("%v: got %q, want %q", at, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*table)
		want   []string
	}{
		"valid":   {func(*table) {}, nil},
		"no name": {func(t *table) { t.Name = "" }, []string{`transitions "": Name, States and Facts must not be empty`}},
		"empty": {func(t *table) { *t = table{Name: "Job"} }, []string{
			`transitions "Job": Name, States and Facts must not be empty`,
		}},
		"a missing fact": {func(t *table) { delete(t.Actions["running"], "ended") }, []string{
			`transitions "Job": state "running" has no action for "ended"`,
		}},
		"a missing state": {func(t *table) { delete(t.Actions, "running") }, []string{
			`transitions "Job": state "running" has no action for "absent"`,
			`transitions "Job": state "running" has no action for "alive"`,
			`transitions "Job": state "running" has no action for "ended"`,
		}},
		"a new fact": {func(t *table) { t.Facts = append(t.Facts, "lost") }, []string{
			`transitions "Job": state "pending" has no action for "lost"`,
			`transitions "Job": state "running" has no action for "lost"`,
		}},
		"an unknown fact": {func(t *table) { t.Actions["running"]["lost"] = "finish" }, []string{
			`transitions "Job": state "running" has an action for "lost", which is not one of Facts`,
		}},
		"an unknown state": {func(t *table) { t.Leads["finish"] = []string{"done", "over"} }, []string{
			`transitions "Job": state "over" is not one of States`,
		}},
		"misspelt": {func(t *table) { t.Always["Done"], t.Entered = "rest", append(t.Entered, "x") }, []string{
			`transitions "Job": state "Done" is not one of States`,
			`transitions "Job": state "x" is not one of States`,
		}},
		"no action leads to a state": {func(t *table) { delete(t.Leads, "finish") }, []string{
			`transitions "Job": state "done" is never reached: no action leads to it, and it is not one of Entered`,
		}},
		"a state that is not entered": {func(t *table) { t.Entered = nil }, []string{
			`transitions "Job": state "suspended" is never reached: no action leads to it, and it is not one of Entered`,
		}},
		"an unused action": {func(t *table) { t.Leads["cancel"] = []string{"done"} }, []string{
			`transitions "Job": action "cancel" is in Leads, but no state has it`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := job()
			c.change(&changed)
			var got []string
			if err := changed.Check(); err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			changed.Drawing().Mermaid() // whatever is wrong
		})
	}
}
