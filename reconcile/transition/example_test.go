package transition_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/transition"
)

func Example() {
	type (
		state  string
		fact   string
		action string
	)
	table := transition.Table[state, fact, action]{
		Name:   "Evaluation",
		States: []state{"Pending", "Running", "Done"},
		Facts:  []fact{"absent", "alive", "ended"},
		Always: map[state]action{"Done": "rest"},
		Actions: map[state]map[fact]action{
			"Pending": {"absent": "create", "alive": "follow", "ended": "finish"},
			"Running": {"absent": "create", "alive": "follow", "ended": "finish"},
		},
		Leads: map[action][]state{"follow": {"Running"}, "finish": {"Done"}},
	}
	fmt.Println(table.Check(), table.Action("Running", "ended"))
	fmt.Print(table.Drawing().Mermaid())
	// Output:
	// <nil> finish
	// stateDiagram-v2
	//     state "Pending" as s0
	//     state "Running" as s1
	//     state "Done" as s2
	//     [*] --> s0
	//     s0 --> s1: follow
	//     s0 --> s2: finish
	//     s1 --> s2: finish
}
