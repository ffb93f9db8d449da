// Package transition models state machines in the status as tables: the action of a reconciliation is a function of the stored state and
// the observed fact only. A repeated reconciliation, or another process, chooses the same action.
//
//	var table = transition.Table[state, fact, action]{
//		States:  []state{pending, running, done}, // the first is the initial state
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
// [Table.Check] reports incomplete tables: a state without an action for a fact, a state that cannot be reached. The builder's
// Transitions checks the table when the controller is set up, and shows it on the dataflow page.
//
// List states that others write, such as a user who cancels, in Entered. A change of the owner's status enqueues the owner.
package transition
