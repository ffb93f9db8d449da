package process

import (
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestParseBusy checks that a controller is busy while its queue has an owner of any priority or a worker reconciles
// one.
func TestParseBusy(t *testing.T) {
	t.Parallel()
	got, err := parseBusy(strings.NewReader(`# HELP workqueue_depth Current depth of workqueue by workqueue and priority
workqueue_depth{controller="queued",name="queued",priority="-100"} 2
workqueue_depth{controller="queued",name="queued",priority="0"} 0
workqueue_depth{controller="idle",name="idle",priority="0"} 0
controller_runtime_active_workers{controller="idle"} 0
controller_runtime_active_workers{controller="works"} 1
workqueue_adds_total{controller="idle",name="idle",priority="0"} 7
`))
	if diff := cmp.Diff(map[string]bool{"queued": true, "idle": false, "works": true}, got); diff != "" || err != nil {
		t.Errorf("error %v; busy (-want +got):\n%s", err, diff)
	}
	if _, err := parseBusy(strings.NewReader(`workqueue_depth{controller="c"} x`)); err == nil {
		t.Error("want an error for an invalid depth")
	}
}

// TestAwaitQueues checks that it returns only after a busy controller has become idle.
func TestAwaitQueues(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	const busyUntil = 3
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		value := "0"
		if asked.Add(1) <= busyUntil {
			value = "1"
		}
		_, _ = w.Write([]byte(`controller_runtime_active_workers{controller="c"} ` + value + "\n"))
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	AwaitQueues(t, listener.Addr().String(), time.Minute)
	if got := asked.Load(); got != busyUntil+2 {
		t.Errorf("the metrics were read %d times, want %d", got, busyUntil+2)
	}
}
