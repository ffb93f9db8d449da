package templates

// Outcome is what became of a candidate.
type Outcome string

const (
	// Chosen is the single best candidate.
	Chosen Outcome = "chosen"
	// Equal is one of several best candidates: none of them is chosen.
	Equal Outcome = "equal"
	// Outranked passed all filters, but a preference found another one better.
	Outranked Outcome = "outranked"
	// Rejected did not pass a filter.
	Rejected Outcome = "rejected"
)

// Reasons of candidates that passed all filters; those of rejected ones come from the [Filter].
const (
	reasonBest      = "BestMatch"           // the candidate is the best one, and chosen
	reasonAmbiguous = "AmbiguousMatch"      // another candidate is as good
	reasonOutranked = "LowerPreferenceRank" // another candidate is better
)

// Evaluation reports why a candidate was chosen or lost.
type Evaluation[C any] struct {
	// Candidate points into the slice that was given.
	Candidate *C
	// Name is what [Selector.Name] returned; empty without one.
	Name string
	// Index is the place in the slice that was given.
	Index int
	// Outcome is what became of the candidate.
	Outcome Outcome
	// Stage is the name of the filter that rejected it; empty when it passed all.
	Stage string
	// Reason is the filter's reason; of candidates that passed all filters "BestMatch", "AmbiguousMatch" or "LowerPreferenceRank".
	Reason string
	// Rank counts from 1, the best; equal candidates share a rank, and the next one has as many before it as there are better ones. 0 when a
	// filter rejected the candidate.
	Rank int
	// DecidedBy is the name of the preference that separated the candidate from the best one; of the chosen one, from the second. Empty when
	// no preference had to decide.
	DecidedBy string
}

// Stage counts what a filter left.
type Stage struct {
	// Name is the filter's.
	Name string
	// Before is the number of candidates that came to the filter.
	Before int
	// After is the number that it let pass.
	After int
}

// Rejected is the number of candidates that the filter rejected.
func (s Stage) Rejected() int { return s.Before - s.After }

// Result is what a selection found, all of it in an order that does not depend on the order of the candidates.
type Result[C any] struct {
	// Chosen is the single best candidate; nil when no candidate is left, and when several are equal.
	Chosen *C
	// Equals are the best candidates, by name: one when it is chosen, several when the choice is ambiguous, none when no candidate is left.
	Equals []*C
	// Evaluations has every candidate: those that passed all filters, best first and equals by name, then the rejected ones, those that
	// got furthest first and by name.
	Evaluations []Evaluation[C]
	// Stages has every filter in order, also those that no candidate reached.
	Stages []Stage
}

// Ambiguous reports whether several candidates are equally good. [Result.Equals] has them.
func (r Result[C]) Ambiguous() bool { return len(r.Equals) > 1 }

// Best returns the first of [Result.Equals], nil when no candidate is left. It is for callers to whom one of several equal candidates is as good
// as another; by their names it is always the same one.
func (r Result[C]) Best() *C {
	if len(r.Equals) == 0 {
		return nil
	}
	return r.Equals[0]
}

// Stage returns the counts of the filter of this name, zeros when there is none.
func (r Result[C]) Stage(name string) Stage {
	for _, s := range r.Stages {
		if s.Name == name {
			return s
		}
	}
	return Stage{Name: name}
}
