// Package finding has what can be wrong with an operator: the checks, what they have found, grouped by cause, and what a system
// accepts.
package finding
