//go:build race

package naming_test

// raceEnabled leaves out what takes long under the race detector and has no goroutines.
const raceEnabled = true
