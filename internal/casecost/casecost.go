package casecost

import (
	"flag"
	"runtime"
	"testing"
	"time"
)

const (
	maxTime  = 100 * time.Millisecond
	maxBytes = 16 << 20
)

// Check calls run and fails the test if that takes more than 100 ms or 16 MiB while a fuzz target searches. In an ordinary run it only
// calls run, because the time then depends on other load.
func Check(t testing.TB, run func()) {
	t.Helper()
	searching := flag.Lookup("test.fuzz")
	if searching == nil || searching.Value.String() == "" {
		run()
		return
	}
	if took, allocated := cost(run); took > maxTime || allocated > maxBytes {
		t.Errorf("took %s and %d bytes", took, allocated)
	}
}

// cost returns the time of run and its allocations, including those of concurrent goroutines.
func cost(run func()) (time.Duration, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now() //nolint:forbidigo // what is measured is the time of this machine
	run()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc
}
