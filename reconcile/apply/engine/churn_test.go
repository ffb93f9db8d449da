//go:build !race

package engine_test

// churnUpdates is how many status updates of children the engine lives through.
const churnUpdates = 10_000
