// Package signature compares the methods of a reconciler with those of the
// phases, so that a misspelt phase is an error at set-up.
package signature
