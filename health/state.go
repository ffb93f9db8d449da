package health

// State is the health of a component, or of an owner. Empty means unset; see [Component.GetState].
// The values are [Ready], [Progressing], [Starting], [Pending], [Degraded], [NotAvailable] and [Failed].
type State string

// The states, from best to worst.
const (
	// Ready works.
	Ready State = "Ready"
	// Progressing is being created or updated.
	Progressing State = "Progressing"
	// Starting has started and does not serve yet.
	Starting State = "Starting"
	// Pending waits for another object or event.
	Pending State = "Pending"
	// Degraded works partially, or did until recently.
	Degraded State = "Degraded"
	// NotAvailable does not work at present.
	NotAvailable State = "NotAvailable"
	// Failed does not work, and a change is necessary.
	Failed State = "Failed"
)

// rank orders the states, worst first. An unknown state ranks with Failed, so that a typing error never looks healthy.
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

// Failing reports whether the state is Degraded, NotAvailable or Failed.
func (s State) Failing() bool { return s == Failed || s == NotAvailable || s == Degraded }

// Worse reports whether a is strictly worse than b. An unknown state ranks with Failed.
func Worse(a, b State) bool { return a.rank() < b.rank() }

// worst returns the worse of two states, the first of equals.
func worst(a, b State) State {
	if Worse(b, a) {
		return b
	}
	return a
}
