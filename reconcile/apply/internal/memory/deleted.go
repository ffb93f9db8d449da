package memory

import "time"

// soonDeleted is how long a child has to live so that its deletion counts for
// nothing: after MaxRepairs shorter lives it is left alone for a while.
const soonDeleted = 30 * time.Second

// Made notes that the child was made.
func (m *Child) Made(now time.Time) {
	if m.losses == nil {
		m.losses = &losses{}
	}
	m.losses.made = now
}

// lost counts that a child does not exist that was there and that we have not
// deleted. limit bounds how long it is left alone.
func (m *Child) lost(now time.Time, limit time.Duration) {
	if m.uid == "" || m.deleted != nil {
		return
	}
	if m.losses == nil || now.Sub(m.losses.made) > soonDeleted+m.losses.pause(limit) {
		m.losses = &losses{}
	}
	if m.losses.count++; m.losses.count > MaxRepairs {
		m.losses.until = now.Add(m.losses.pause(limit))
	}
}

// leftAlone returns how often others have deleted the child, and how much longer
// it is not made for that; zero if it may be made.
func (m *Child) leftAlone(now time.Time) (times int, rest time.Duration) {
	l := m.losses
	if l == nil || l.count <= MaxRepairs || !now.Before(l.until) {
		return 0, 0
	}
	return l.count, l.until.Sub(now)
}

// pause is how long the child is left alone after so many deletions.
func (l *losses) pause(limit time.Duration) time.Duration {
	if l.count <= MaxRepairs {
		return 0
	}
	return Backoff(l.count-MaxRepairs-1, limit)
}
