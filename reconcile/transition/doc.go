// Package transition has state machines in the status as tables: what a pass does is a function of the state that is stored and of the fact that
// it sees, and of nothing else. A pass that is repeated, or another process, does the same.
//
//	var table = transition.Table[state, fact, action]{
//		States:  []state{pending, running, done}, // the first is that of a new owner
//		Facts:   []fact{absent, alive, ended},
//		Always:  map[state]action{done: rest},
//		Actions: map[state]map[fact]action{
//			pending: {absent: create, alive: follow, ended: finish},
//			running: {absent: create, alive: follow, ended: finish},
//		},
//		Leads: map[action][]state{follow: {running}, finish: {done}},
//	}
//
//	switch table.Action(stored(owner), see(pod)) { ... }
//
// [Table.Check] finds what is missing: a fact that was forgotten in a state, a state that nothing leads to. The builder's Transitions checks the
// table when the controller is set up, and draws it on the dataflow page.
//
// A state may also be written by others, as by a user who cancels: name it in Entered. The status of the owner wakes it.
package transition
