package templates

// Outcome is the outcome of a candidate.
type Outcome string

const (
	// Chosen is the single best candidate.
	Chosen Outcome = "chosen"
	// Equal is one of several best candidates; none of them is chosen.
	Equal Outcome = "equal"
	// Outranked passed all filters, but another candidate ranks better.
	Outranked Outcome = "outranked"
	// Rejected did not pass a filter.
	Rejected Outcome = "rejected"
)

// Reasons of candidates that passed all filters; [Filter] has those of rejected ones.
const (
	reasonBest      = "BestMatch"           // the candidate is the best one, and chosen
	reasonAmbiguous = "AmbiguousMatch"      // another candidate is as good
	reasonOutranked = "LowerPreferenceRank" // another candidate is better
)

// Evaluation explains the outcome of a candidate.
type Evaluation[C any] struct {
	// Candidate points into the given slice.
	Candidate *C
	// Name is the result of [Selector.Name]; empty without one.
	Name string
	// Index is the index in the given slice.
	Index int
	// Outcome is the outcome of the candidate.
	Outcome Outcome
	// Stage is the name of the filter that rejected the candidate; empty if it passed all.
	Stage string
	// Reason is the filter's reason; for candidates that passed all filters "BestMatch", "AmbiguousMatch" or "LowerPreferenceRank".
	Reason string
	// Rank starts at 1 for the best. Equal candidates share a rank, and the next rank is one more than the number of better candidates. 0 if
	// a filter rejected the candidate.
	Rank int
	// DecidedBy is the name of the preference that separated the candidate from the best one, or the chosen one from the second. Empty if no
	// preference decided.
	DecidedBy string
}

// Stage counts the candidates before and after a filter.
type Stage struct {
	// Name is the name of the filter.
	Name string
	// Before is the number of candidates before the filter.
	Before int
	// After is the number of candidates that the filter kept.
	After int
}

// Rejected is the number of candidates that the filter rejected.
func (s Stage) Rejected() int { return s.Before - s.After }

// Result is the result of a selection. Its order does not depend on the order of the candidates.
type Result[C any] struct {
	// Chosen is the single best candidate; nil if no candidate is left or several are equal.
	Chosen *C
	// Equals are the best candidates by name: one if it is chosen, several if the choice is ambiguous, none if no candidate is left.
	Equals []*C
	// Evaluations has every candidate: first those that passed all filters, best first and equals by name, then the rejected ones, latest
	// stage first and by name.
	Evaluations []Evaluation[C]
	// Stages has every filter in order, also those without candidates.
	Stages []Stage
}

// Ambiguous reports whether several candidates are equally good. [Result.Equals] has them.
func (r Result[C]) Ambiguous() bool { return len(r.Equals) > 1 }

// Best returns the first of [Result.Equals], nil if no candidate is left. Use it if any of several equal candidates will do; the choice
// is deterministic by name.
func (r Result[C]) Best() *C {
	if len(r.Equals) == 0 {
		return nil
	}
	return r.Equals[0]
}

// Stage returns the counts of the named filter, zeros if there is none.
func (r Result[C]) Stage(name string) Stage {
	for _, s := range r.Stages {
		if s.Name == name {
			return s
		}
	}
	return Stage{Name: name}
}
