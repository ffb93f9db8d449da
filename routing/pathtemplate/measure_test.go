package pathtemplate_test

import (
	"flag"
	"runtime"
	"testing"
	"time"
)

// measure holds one case against 100 ms and 16 MiB while a fuzz target searches. In an ordinary run it only calls run: what a case
// takes there depends on what else the machine does.
func measure(t *testing.T, run func()) {
	t.Helper()
	searching := flag.Lookup("test.fuzz")
	if searching == nil || searching.Value.String() == "" {
		run()
		return
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	run()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; took > 100*time.Millisecond || allocated > 16<<20 {
		t.Errorf("took %s and %d bytes", took, allocated)
	}
}
