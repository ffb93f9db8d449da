package casecost

import (
	"testing"
	"time"
)

// kept prevents the compiler from removing the allocations of a test.
var kept []byte

func TestCost(t *testing.T) {
	took, allocated := cost(func() {
		time.Sleep(time.Millisecond)
		kept = make([]byte, 1<<20)
	})
	if took < time.Millisecond || allocated < 1<<20 || len(kept) != 1<<20 {
		t.Errorf("a case of 1 ms and 1 MiB took %s and %d bytes", took, allocated)
	}
}
