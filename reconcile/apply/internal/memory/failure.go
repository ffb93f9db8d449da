package memory

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// FailedIn returns the failure in this situation, nil if a request may be sent.
func (m *Child) FailedIn(s Situation, now time.Time) *Failure {
	if m.failure.Repeats(s, now) {
		return m.failure
	}
	return nil
}

// Repeats reports whether a request in this situation would fail again.
func (f *Failure) Repeats(s Situation, now time.Time) bool {
	return f != nil && f.Err != nil && f.Situation == s && now.Before(f.Until)
}

// Refused remembers why the intent of a child was not applied, and returns the delay of the next attempt: twice the last one, at most
// limit.
func (m *Child) Refused(f Failure, now time.Time, limit time.Duration) time.Duration {
	if last := m.failure; last != nil && last.Err != nil && last.Intent == f.Intent {
		f.count = last.count
	}
	return m.failed(f, now, limit)
}

// NotDeleted remembers why an object was not deleted, and returns the delay of the next attempt: twice the last one, at most limit.
func (m *Child) NotDeleted(uid types.UID, err error, now time.Time, limit time.Duration) time.Duration {
	f := Failure{Situation: Situation{UID: uid}, Err: err}
	if last := m.failure; last != nil && last.UID == uid && last.Intent == 0 {
		f.count = last.count
	}
	return m.failed(f, now, limit)
}

func (m *Child) failed(f Failure, now time.Time, limit time.Duration) time.Duration {
	wait := Backoff(f.count, limit)
	f.Until = now.Add(wait)
	f.count++
	m.failure = &f
	return wait
}

// ForgetFailure notes that a request succeeded.
func (m *Child) ForgetFailure() { m.failure = nil }

// Succeeded forgets the failure, but keeps the count of repairs.
func (m *Child) Succeeded(now time.Time) {
	m.failure = nil
	maps.DeleteFunc(m.repairs, func(_ string, r repair) bool { return now.Sub(r.since) > fightWindow })
}

// Backoff returns a delay that doubles from one second up to the limit.
func Backoff(count int, limit time.Duration) time.Duration {
	d := time.Second
	for range count {
		if d >= limit {
			break
		}
		d *= 2
	}
	return min(d, limit)
}

// retry ends the delays of the child. The counts remain, so that another failure has a longer delay than the one before.
func (m *Child) retry() {
	if m.failure != nil {
		f := *m.failure
		f.Until, m.failure = time.Time{}, &f
	}
	if m.contest != nil {
		t := *m.contest
		t.Until, m.contest = time.Time{}, &t
	}
	if m.losses != nil {
		m.losses.until = time.Time{}
	}
}
