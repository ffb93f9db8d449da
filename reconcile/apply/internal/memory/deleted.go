package memory

import "time"

// soonDeleted is the minimum lifetime of a child; deletions after it are not counted. After MaxRepairs shorter lifetimes the child is left
// alone for a while.
const soonDeleted = 30 * time.Second

// Made notes that the child was created.
func (m *Child) Made(now time.Time) {
	if m.losses == nil {
		m.losses = &losses{}
	}
	m.losses.made = now
}

// lost counts the disappearance of an existing child that the engine has not deleted. limit is the maximum pause before it is recreated.
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

// leftAlone returns how often others have deleted the child, and the remaining pause; zero if it may be created.
func (m *Child) leftAlone(now time.Time) (times int, rest time.Duration) {
	l := m.losses
	if l == nil || l.count <= MaxRepairs || !now.Before(l.until) {
		return 0, 0
	}
	return l.count, l.until.Sub(now)
}

// pause returns the pause after this number of deletions.
func (l *losses) pause(limit time.Duration) time.Duration {
	if l.count <= MaxRepairs {
		return 0
	}
	return Backoff(l.count-MaxRepairs-1, limit)
}
