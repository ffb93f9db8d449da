// Package text prepares texts for storage and display: [Cut] truncates them, [Scrub] removes credentials.
//
// Only this package does either. Authors use conditions.Bound; health.Categorize does both for errors.
package text
