package health

// State is how a component, or a whole owner, is. The empty state means that nothing was said: see [Component.GetState].
type State string

// The states, from best to worst.
const (
	// Ready does its work.
	Ready State = "Ready"
	// Progressing is on its way.
	Progressing State = "Progressing"
	// Starting has started and does not serve yet.
	Starting State = "Starting"
	// Pending waits for something else.
	Pending State = "Pending"
	// Degraded works in part, or did until lately.
	Degraded State = "Degraded"
	// NotAvailable does not work now.
	NotAvailable State = "NotAvailable"
	// Failed does not work and will not without a change.
	Failed State = "Failed"
)

// rank orders the states, worst first. A word that is no state ranks with Failed, so that a typing error never looks healthy.
func (s State) rank() int {
	switch s {
	case Failed:
		return 0
	case NotAvailable:
		return 1
	case Degraded:
		return 2
	case Pending:
		return 3
	case Starting:
		return 4
	case Progressing:
		return 5
	case Ready:
		return 6
	}
	return 0
}

// Failing reports whether the state is an error, Degraded, NotAvailable or Failed, and not a stage on the way to Ready.
func (s State) Failing() bool { return s == Failed || s == NotAvailable || s == Degraded }

// Worse reports whether a is strictly worse than b. A word that is no state is as bad as Failed.
func Worse(a, b State) bool { return a.rank() < b.rank() }

// worst returns the worse of two states, the first of equals.
func worst(a, b State) State {
	if Worse(b, a) {
		return b
	}
	return a
}
