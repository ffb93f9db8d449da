package templates

import (
	"cmp"
	"slices"
	"strings"
)

// Selector selects one of many candidates of type C. The zero value filters nothing and prefers nothing: one candidate is chosen, several
// are equal. Selecting does not modify a Selector, so it is safe for concurrent use if its functions are.
//
// The functions receive pointers into the slice given to [Selector.Select] and must not modify the candidates. Each is called at most
// once per candidate, and only for candidates that reach its stage.
type Selector[C any] struct {
	// Name identifies a candidate in the result and orders equal candidates. It should be unique, such as namespace/name; candidates of one
	// name keep the order of the input. Without Name all candidates keep the order of the input, so the result depends on it.
	Name func(candidate *C) string
	// Filters are the stages, in order. A filter receives only the candidates that the earlier filters kept.
	Filters []Filter[C]
	// Preferences rank the candidates that passed all filters: the first preference decides, the next one among its equals, and so on.
	Preferences []Preference[C]
}

// Select applies the filters to all candidates and ranks the remaining ones. The result points into candidates and does not depend on
// their order.
func (s Selector[C]) Select(candidates []C) Result[C] {
	run := run[C]{Selector: s, candidates: candidates, names: make([]string, len(candidates))}
	alive := make([]int, len(candidates))
	for i := range candidates {
		alive[i] = i
		if s.Name != nil {
			run.names[i] = s.Name(&candidates[i])
		}
	}
	stages := make([]Stage, len(s.Filters))
	for i := range s.Filters {
		stages[i] = Stage{Name: s.Filters[i].Name, Before: len(alive)}
		alive = run.filter(i, alive)
		stages[i].After = len(alive)
	}
	equals := run.rank(alive)
	return run.result(stages, alive, equals)
}

// run is the state of one [Selector.Select].
type run[C any] struct {
	Selector[C]

	candidates []C
	names      []string // of the candidates
	keys       []int    // ranks of the candidates that passed, one for each preference
	losses     []loss   // in the order of the stages
}

// loss is a rejected candidate: its index in the input and the stage that rejected it.
type loss struct{ index, stage int }

// filter removes the candidates that one stage rejects from alive.
func (r *run[C]) filter(stage int, alive []int) []int {
	f := &r.Filters[stage]
	kept := alive
	if f.Keep != nil {
		kept = alive[:0]
		for _, i := range alive {
			if f.Keep(&r.candidates[i]) {
				kept = append(kept, i)
			} else {
				r.reject(stage, i)
			}
		}
	}
	if f.Best == nil || len(kept) == 0 {
		return kept
	}
	ranks := make([]int, len(kept))
	for at, i := range kept {
		ranks[at] = f.Best(&r.candidates[i])
	}
	best, left := slices.Min(ranks), kept[:0]
	for at, i := range kept {
		if ranks[at] == best {
			left = append(left, i)
		} else {
			r.reject(stage, i)
		}
	}
	return left
}

// reject records a rejection.
func (r *run[C]) reject(stage, i int) {
	r.losses = append(r.losses, loss{index: i, stage: stage})
}

// reason returns the reason of a rejection.
func (r *run[C]) reason(l loss) string {
	f := &r.Filters[l.stage]
	reason := ""
	if f.ReasonFor != nil {
		reason = f.ReasonFor(&r.candidates[l.index])
	}
	return cmp.Or(reason, f.Reason, f.Name)
}

// rank sorts alive, best first, and returns the number of candidates equal to the best.
func (r *run[C]) rank(alive []int) int {
	if len(alive) == 0 {
		return 0
	}
	width := len(r.Preferences)
	r.keys = make([]int, len(r.candidates)*width)
	for _, i := range alive {
		key := r.keys[i*width : (i+1)*width]
		for p := range r.Preferences {
			if rank := r.Preferences[p].Rank; rank != nil {
				key[p] = rank(&r.candidates[i])
			}
		}
	}
	r.sort(alive)
	equals := 1
	for equals < len(alive) && r.differ(alive[0], alive[equals]) == width {
		equals++
	}
	return equals
}

// differ returns the first preference that ranks two candidates differently, or the number of preferences.
func (r *run[C]) differ(a, b int) int {
	width := len(r.Preferences)
	for p := range width {
		if r.keys[a*width+p] != r.keys[b*width+p] {
			return p
		}
	}
	return width
}

// sort sorts candidates by their keys, their name and their index in the input.
func (r *run[C]) sort(alive []int) {
	width := len(r.Preferences)
	slices.SortFunc(alive, func(a, b int) int {
		return cmp.Or(slices.Compare(r.keys[a*width:(a+1)*width], r.keys[b*width:(b+1)*width]), r.byName(a, b))
	})
}

// byName compares by name, then by index in the input.
func (r *run[C]) byName(a, b int) int {
	if order := strings.Compare(r.names[a], r.names[b]); order != 0 {
		return order
	}
	return a - b
}

// result builds the result: first the ranked candidates, best first, then the rejected ones, latest stage first.
func (r *run[C]) result(stages []Stage, ranked []int, equals int) Result[C] {
	evaluations := make([]Evaluation[C], len(r.candidates)) // written in place: they are large
	result := Result[C]{Stages: stages, Evaluations: evaluations}
	for at, i := range ranked {
		e := &evaluations[at]
		r.identify(e, i)
		r.judge(e, ranked, at, equals)
		if at >= equals && r.differ(ranked[at-1], i) == len(r.Preferences) {
			e.Rank = evaluations[at-1].Rank
		}
	}
	if equals > 0 {
		result.Equals = make([]*C, 0, equals)
	}
	for at := range equals {
		result.Equals = append(result.Equals, evaluations[at].Candidate)
	}
	if equals == 1 {
		result.Chosen = result.Equals[0]
	}
	slices.SortFunc(r.losses, func(a, b loss) int {
		if a.stage != b.stage {
			return b.stage - a.stage
		}
		return r.byName(a.index, b.index)
	})
	for at, l := range r.losses {
		e := &evaluations[len(ranked)+at]
		r.identify(e, l.index)
		e.Outcome, e.Stage, e.Reason = Rejected, r.Filters[l.stage].Name, r.reason(l)
	}
	return result
}

// identify fills in the part of an evaluation that does not depend on the outcome.
func (r *run[C]) identify(e *Evaluation[C], i int) {
	e.Candidate, e.Name, e.Index = &r.candidates[i], r.names[i], i
}

// judge sets the outcome of the ranked candidate at this position.
func (r *run[C]) judge(e *Evaluation[C], ranked []int, at, equals int) {
	switch {
	case at < equals && equals > 1:
		e.Outcome, e.Reason, e.Rank = Equal, reasonAmbiguous, 1
	case at == 0:
		e.Outcome, e.Reason, e.Rank = Chosen, reasonBest, 1
		if len(ranked) > 1 {
			e.DecidedBy = r.Preferences[r.differ(ranked[0], ranked[1])].Name
		}
	default:
		e.Outcome, e.Reason, e.Rank = Outranked, reasonOutranked, at+1
		e.DecidedBy = r.Preferences[r.differ(ranked[0], ranked[at])].Name
	}
}
