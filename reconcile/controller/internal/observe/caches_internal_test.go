package observe

import (
	"sync"
	"testing"
)

// TestCachesWhileSetUp: metrics and readiness are asked while sources are added. The race detector finds what is not guarded.
func TestCachesWhileSetUp(t *testing.T) {
	t.Parallel()
	c := &Caches{Failed: &ListFailures{}}
	var asked sync.WaitGroup
	asked.Go(func() {
		for range 100 {
			_, _ = c.byKind(), c.check(nil)
		}
	})
	for range 100 {
		c.note(&syncing{kind: "ConfigMap", name: "ConfigMap", listed: func() bool { return true }})
	}
	asked.Wait()
	if got := c.byKind()["ConfigMap"]; got != 1 {
		t.Errorf("got %v, want 1", got)
	}
}
