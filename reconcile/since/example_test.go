package since_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/since"
)

func Example() {
	idle := since.Fact{Annotation: "example.com/idle-since", For: time.Minute}
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

	stored := &corev1.ConfigMap{}
	for _, pass := range []struct {
		isTrue bool
		after  time.Duration
	}{{true, 0}, {true, 20 * time.Second}, {true, time.Minute}, {false, 2 * time.Minute}, {true, 3 * time.Minute}} {
		state := idle.Of(stored, pass.isTrue, start.Add(pass.after))
		planned := &corev1.ConfigMap{}
		state.Mark(planned)
		fmt.Println(pass.after, planned.Annotations["example.com/idle-since"], state.Due)
		stored = planned // applied; the process may be another one now
	}
	// Output:
	// 0s 2026-05-01T12:00:00Z false
	// 20s 2026-05-01T12:00:00Z false
	// 1m0s 2026-05-01T12:00:00Z true
	// 2m0s  false
	// 3m0s 2026-05-01T12:03:00Z false
}
