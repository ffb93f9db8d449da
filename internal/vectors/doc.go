// Package vectors runs recorded cases in tests: inputs and results of another implementation of the same rules. Each result must be
// equal, or differ for a documented reason.
package vectors
