package transition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Table maps each stored state and observed fact to an action. Its fields must not change after the first use.
type Table[S, F, A ~string] struct {
	// Name is the heading of the table, such as the kind whose status has the state. Required.
	Name string
	// States are all states; the first is the initial state of an owner.
	States []S
	// Facts are all facts. They are mutually exclusive.
	Facts []F
	// Always are the actions of states that do not depend on the fact. Actions overrides them.
	Always map[S]A
	// Actions maps a state and a fact to an action.
	Actions map[S]map[F]A
	// Leads are the states that an action may store. An action without an entry keeps the state.
	Leads map[A][]S
	// Entered are states that others write: a user who edits the spec or the status.
	Entered []S
}

// Declared is a [Table] of any types.
type Declared interface {
	// Check returns an error if the table is invalid.
	Check() error
	// Drawing returns the table in a printable form.
	Drawing() Drawing
}

var _ Declared = Table[string, string, string]{}

// Action returns the action. It is the zero value for entries that [Table.Check] rejects.
func (t Table[S, F, A]) Action(state S, fact F) A {
	if action, named := t.Actions[state][fact]; named {
		return action
	}
	return t.Always[state]
}

// Check returns all problems of the table, joined: a state without an action for a fact, an empty or undeclared state, fact or action, a
// state that neither an action nor another writer enters.
func (t Table[S, F, A]) Check() error {
	var wrong []error
	add := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("transitions %q: "+format, append([]any{t.Name}, args...)...))
	}
	if t.Name == "" || len(t.States) == 0 || len(t.Facts) == 0 {
		add("Name, States and Facts must not be empty")
	}
	for _, state := range t.unknown() {
		add("state %q is not one of States", state)
	}
	taken := map[A]bool{}
	for _, s := range t.States {
		for _, f := range t.Facts {
			action := t.Action(s, f)
			taken[action] = true
			if action == "" {
				add("state %q has no action for %q", s, f)
			}
		}
		for f := range t.Actions[s] {
			if !slices.Contains(t.Facts, f) {
				add("state %q has an action for %q, which is not one of Facts", s, f)
			}
		}
	}
	for action := range t.Leads {
		if !taken[action] {
			add("action %q is in Leads, but no state has it", action)
		}
	}
	reached := t.reached()
	for _, s := range t.States {
		if !reached[s] {
			add("state %q is never reached: no action leads to it, and it is not one of Entered", s)
		}
	}
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(wrong...)
}

// unknown returns the states that are used but not declared.
func (t Table[S, F, A]) unknown() []S {
	var out []S
	for s := range t.Always {
		out = append(out, s)
	}
	for s := range t.Actions {
		out = append(out, s)
	}
	for _, to := range t.Leads {
		out = append(out, to...)
	}
	out = append(out, t.Entered...)
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(s S) bool { return s != "" && slices.Contains(t.States, s) })
}

// reached returns the states that an owner may enter.
func (t Table[S, F, A]) reached() map[S]bool {
	out := map[S]bool{}
	next := slices.Clone(t.Entered)
	if len(t.States) > 0 {
		next = append(next, t.States[0])
	}
	for len(next) > 0 {
		s := next[0]
		next = next[1:]
		if out[s] {
			continue
		}
		out[s] = true
		for _, f := range t.Facts {
			next = append(next, t.Leads[t.Action(s, f)]...)
		}
	}
	return out
}
