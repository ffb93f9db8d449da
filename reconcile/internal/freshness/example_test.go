package freshness_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

func Example() {
	now := time.Unix(0, 0)
	write := freshness.Wrote("42", now)

	cached := &corev1.ConfigMap{}
	cached.SetResourceVersion("41")
	fmt.Println(write.HiddenBy(cached), write.Left(now.Add(4*time.Second), freshness.Deadline))

	cached.SetResourceVersion("43")
	fmt.Println(write.HiddenBy(cached))
	// Output:
	// true 6s
	// false
}
