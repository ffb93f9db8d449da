// Package text makes texts fit to be stored and shown: [Cut] bounds them, [Scrub] takes credentials out.
//
// It is the one place that does either. What an author needs of it is in package conditions (conditions.Bound); errors get both from
// health.Categorize.
package text
