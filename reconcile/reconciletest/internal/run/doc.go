// Package run executes one run: the steps of a baseline, with instances of the operator that start, run passes, crash and overlap, until
// steady state.
package run
