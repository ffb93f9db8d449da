package etcd

import "testing"

// TestFirstReports checks that watches which run concurrently log an outage once, and that the next outage is logged
// again.
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
