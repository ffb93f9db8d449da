package freshness

import (
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// Deadline is how long a cache is waited for by default.
	Deadline = 10 * time.Second
	// Poll is how soon a pass that waits for a cache is tried again.
	Poll = 20 * time.Millisecond
)

// Write is the last write to an object, while a cache may not show it yet. The
// zero Write is none.
type Write struct {
	version string
	at      time.Time
}

// Wrote returns the write that gave the object this resourceVersion.
func Wrote(version string, now time.Time) Write { return Write{version: version, at: now} }

// Pending reports whether there is a write that no cache was seen to show.
func (w Write) Pending() bool { return w.version != "" }

// Version is the resourceVersion that was written, empty when there is none.
func (w Write) Version() string { return w.version }

// HiddenBy reports whether the cached object is older than the write. A nil
// object is one that the cache does not have.
func (w Write) HiddenBy(cached client.Object) bool {
	return w.Pending() && (cached == nil || Older(cached.GetResourceVersion(), w.version))
}

// Left is how long the cache may still take, nothing when the deadline is over,
// and never more than the deadline, whatever the clock does.
func (w Write) Left(now time.Time, deadline time.Duration) time.Duration {
	return min(deadline, max(0, deadline-now.Sub(w.at)))
}

// Older reports whether resourceVersion a precedes b, as KEP-5504 orders them.
// What cannot be compared is not older: nothing could ever be waited for.
func Older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
