// Package templates selects one of many candidates and explains the choice: the template for a workload, the class for a claim, the
// version for a request.
//
//	selector := templates.Selector[Profile]{
//		Name: func(p *Profile) string { return p.Namespace + "/" + p.Name },
//		Filters: []templates.Filter[Profile]{
//			templates.Keep("availability", "NotReady", func(p *Profile) bool { return p.Ready }),
//			templates.OnlyBest("scope", "HiddenByNamespace", func(p *Profile) int { return p.Scope }),
//		},
//		Preferences: []templates.Preference[Profile]{
//			templates.InOrder("precision", func(p *Profile) string { return p.Precision }, "fp8", "fp16"),
//		},
//	}
//	result := selector.Select(profiles)
//
// A [Selector] applies its filters in order and ranks the remaining candidates by its preferences. A [Result] has
//
//   - the chosen candidate, or the equal candidates of an ambiguous choice; a tie is never broken at random;
//   - an [Evaluation] of every candidate: chosen, equal, outranked (with the deciding preference) or rejected (with the stage and the
//     reason);
//   - the counts of every [Stage];
//   - texts: [Result.Explain] returns tables for a person, [Result.Summary] one line for a condition.
//
// # When to use which
//
//	reject unusable candidates                             Keep
//	a choice before all preferences                        OnlyBest
//	prefer by a list of values                             InOrder; InOrderFold to ignore case
//	prefer by a number                                     Preference with Rank
//	one candidate and the reasons for the others           Selector.Select; Result.Evaluations, Result.Stages
//	any one of several equal candidates                    Result.Best
//	a line for a condition, a page for a person            Result.Summary, Result.Explain
//
// # Rules
//
//   - Filters run in order. A filter receives only the candidates that the earlier filters kept.
//   - A filter with [Filter.Best] keeps only candidates of the lowest rank. A candidate in the namespace then hides those of the cluster,
//     unless an earlier stage rejected it.
//   - Preferences compare in lexicographic order. With [InOrder], values that are not listed come last and are equal.
//   - The result does not depend on the order of the candidates if their names differ. Equal candidates are sorted by name.
//
// # Valid and invalid input
//
// Any number of candidates is valid, also none. A filter without functions rejects nothing; a preference without a function ranks all
// candidates equal. The caller's functions must be deterministic and must not modify a candidate, and names must differ. No function
// returns an error; an empty choice is a valid result.
//
// Candidates are not copied: a result points into the given slice.
package templates
