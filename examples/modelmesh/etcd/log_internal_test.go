package etcd

import "testing"

// TestTells: who watches beside another one does not tell the same again, and the next pause is told.
func TestTells(t *testing.T) {
	t.Parallel()
	e := NewEvents("n", true)
	if !e.shouldLog(lastPause) || e.shouldLog(lastPause) {
		t.Error("want the first to tell, and the second not")
	}
	if !e.shouldLog(0) {
		t.Error("want the next to tell")
	}
}
