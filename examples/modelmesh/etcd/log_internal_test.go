package etcd

import "testing"

// TestFirstReports: who watches beside another one does not tell the same again, and the next pause is told.
func TestFirstReports(t *testing.T) {
	t.Parallel()
	e := NewEvents("n", true)
	if !e.shouldLog(lastPause) || e.shouldLog(lastPause) {
		t.Error("want a report of the first call, and none of the second")
	}
	if !e.shouldLog(0) {
		t.Error("want a report of the next call")
	}
}
