//go:build race

package engine_test

// churnUpdates is less than without the race detector, which would take minutes.
const churnUpdates = 2_000
