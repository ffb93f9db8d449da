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

// lossesAfter returns the losses after the disappearance of an existing child that the engine has not deleted. limit is the maximum pause
// before it is recreated.
func (m *Child) lossesAfter(now time.Time, limit time.Duration) *losses {
	if m.uid == "" || m.deleted != nil {
		return m.losses
	}
	next := losses{}
	if m.losses != nil && now.Sub(m.losses.made) <= soonDeleted+m.losses.pause(limit) {
		next = *m.losses
	}
	if next.count++; next.count > MaxRepairs {
		next.until = now.Add(next.pause(limit))
	}
	return &next
}

// leftAlone returns how often others have deleted the child, and the remaining pause; zero if it may be created.
func (l *losses) leftAlone(now time.Time) (times int, rest time.Duration) {
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
