package memory

import "time"

// recreation counts the recreations of a child for one intent.
type recreation struct {
	intent uint64
	count  int
	at     time.Time
}

// NoteSentOnce notes whether the plan has values that are sent once.
func (m *Child) NoteSentOnce(once bool) { m.sentOnce = once }

// SentOnce reports whether the last plan had values that are sent once.
func (m *Child) SentOnce() bool { return m.sentOnce }

// NoteRecreated notes that the child was deleted to recreate it for the intent.
func (m *Child) NoteRecreated(intent uint64, now time.Time) {
	next := recreation{intent: intent, count: 1, at: now}
	if m.recreation != nil && m.recreation.intent == intent {
		next.count += m.recreation.count
	}
	m.recreation = &next
}

// Recreated returns the number of recreations for the intent, and the remaining delay of the next one. The first has no delay, the second
// waits for the interval, and each later one waits twice as long as the one before.
func (m *Child) Recreated(intent uint64, now time.Time, interval time.Duration) (times int, rest time.Duration) {
	r := m.recreation
	if r == nil || r.intent != intent {
		return 0, 0
	}
	const mostDoublings = 8
	wait := interval << min(r.count-1, mostDoublings)
	return r.count, max(0, r.at.Add(wait).Sub(now))
}
