package memory_test

import (
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

func TestRecreatedDelaysTheSameIntent(t *testing.T) {
	now := time.Now()
	var m memory.Child
	for times, want := range []time.Duration{0, time.Minute, 2 * time.Minute, 4 * time.Minute} {
		if got, rest := m.Recreated(1, now, time.Minute); got != times || rest != want {
			t.Errorf("after %d recreations: got %d, %s; want %s", times, got, rest, want)
		}
		if _, rest := m.Recreated(1, now.Add(want), time.Minute); rest != 0 {
			t.Errorf("after %d recreations and %s: got %s; want 0", times, want, rest)
		}
		if _, rest := m.Recreated(2, now, time.Minute); rest != 0 {
			t.Errorf("another intent: got %s; want 0", rest)
		}
		m.NoteRecreated(1, now)
	}
}
