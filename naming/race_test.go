//go:build race

package naming_test

// raceEnabled skips slow tests without goroutines under the race detector.
const raceEnabled = true
