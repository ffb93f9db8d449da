package freshness

import (
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// Deadline is the default time to wait for a cache.
	Deadline = 10 * time.Second
	// Poll is the requeue delay while waiting for a cache.
	Poll = 20 * time.Millisecond
)

// Write is the last write to an object while a cache may not show it yet. The zero Write is none.
type Write struct {
	version string
	at      time.Time
}

// Wrote returns the write that gave the object this resourceVersion.
func Wrote(version string, now time.Time) Write { return Write{version: version, at: now} }

// Pending reports whether there is a write that no cache has shown yet.
func (w Write) Pending() bool { return w.version != "" }

// Version returns the resourceVersion of the write, empty if there is none.
func (w Write) Version() string { return w.version }

// HiddenBy reports whether the cached object is older than the write. A nil object is missing in the cache.
func (w Write) HiddenBy(cached client.Object) bool {
	return w.Pending() && (cached == nil || Older(cached.GetResourceVersion(), w.version))
}

// Left returns the remaining time for the cache, 0 after the deadline, and never more than the deadline, even if the clock jumps.
func (w Write) Left(now time.Time, deadline time.Duration) time.Duration {
	return min(deadline, max(0, deadline-now.Sub(w.at)))
}

// Older reports whether resourceVersion a precedes b, in the order of KEP-5504. Incomparable versions are not older, because a wait for
// them would never end.
func Older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
