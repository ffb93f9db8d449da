package memory

import (
	"time"
)

// DeletedByOthers counts how often others have deleted a child soon after it was made.
type DeletedByOthers struct {
	Count int
	// Made is when the child was last made, Until when it is left alone.
	Made, Until time.Time
}

// Pause is how long the child is left alone after so many deaths, at most limit.
func (d *DeletedByOthers) Pause(limit time.Duration) time.Duration {
	if d.Count <= MaxRepairs {
		return 0
	}
	return Backoff(d.Count-MaxRepairs-1, limit)
}

// Made notes that the child was made.
func (m *Child) Made(now time.Time) {
	if m.DeletedByOthers == nil {
		m.DeletedByOthers = &DeletedByOthers{}
	}
	m.DeletedByOthers.Made = now
}
