package operator_test

import (
	"context"
	"io"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

// TestOtherProcess checks that a process without leader election reports the holder of the operator's lease.
func TestOtherProcess(t *testing.T) {
	t.Parallel()
	namespace := env.Namespace(t)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "widgets.example.com"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("pod-of-the-release"), LeaseDurationSeconds: new(int32(3600)), RenewTime: &metav1.MicroTime{Time: clock.RealClock{}.Now()},
		},
	}
	create(t, lease)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var logs output
	done := make(chan error, 1)
	go func() {
		done <- widgets("other").Run(ctx, []string{
			"-namespaces=" + namespace, "-leader-election-namespace=" + namespace, "-health-probe-bind-address=0", "-metrics-bind-address=0",
		}, io.Discard, &logs)
	}()
	eventually(t, "the report", func() bool {
		return strings.Contains(logs.String(), "another process of the operator runs") && strings.Contains(logs.String(), "pod-of-the-release")
	})
	cancel()
	if err := <-done; err != nil {
		t.Errorf("the operator ended with %v", err)
	}
}
