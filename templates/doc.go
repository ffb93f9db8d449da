// Package templates chooses one of many candidates and reports why: which template fits a workload, which class fits a claim, which version
// fits a request.
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
// A [Selector] runs candidates through its filters, stage by stage, and ranks what is left by its preferences. A [Result] has
//
//   - the chosen candidate, or that the choice is ambiguous and who is equal: a tie is never broken by chance;
//   - an [Evaluation] of every candidate: chosen, equal, outranked (and which preference decided) or rejected (at which stage, and why);
//   - the counts of every [Stage];
//   - all of it as text: [Result.Explain] as tables for a person, [Result.Summary] in one line for a condition.
//
// # When to use which
//
//	a candidate that cannot be used at all                 Keep
//	a choice that comes before all preferences             OnlyBest
//	what is better, by a list of values                    InOrder; InOrderFold where upper and lower case mean the same
//	what is better, by a number                            Preference with Rank
//	one candidate and the reasons of the others            Selector.Select; Result.Evaluations, Result.Stages
//	one of several equal ones, whichever                   Result.Best
//	a line for a condition, a page for a person            Result.Summary, Result.Explain
//
// # Rules
//
//   - Filters run in order; a candidate that one rejects is not seen by the next.
//   - A filter with [Filter.Best] leaves only candidates of the lowest rank: so a candidate in the namespace hides the cluster's, unless an
//     earlier stage rejected it.
//   - Preferences compare one after the other, like words in a dictionary. With [InOrder], values that are not listed come last and
//     are equal.
//   - The result does not depend on the order of the candidates, as long as their names differ: equal ones are in the order of their
//     names.
//
// # Valid and invalid input
//
// Any number of candidates, also none. Filters and preferences whose functions are unset let everything pass and find all equal. What is
// asked of the caller: functions that give the same answer for the same candidate and do not change it, and names that differ. Nothing
// here returns an error; that no candidate is left is a result.
//
// The package imports only the standard library. Candidates are not copied: a result points into the slice that was given.
package templates
