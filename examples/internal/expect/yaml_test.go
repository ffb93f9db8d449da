package expect_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
)

// TestDiff checks that missing and unexpected fields are reported.
func TestDiff(t *testing.T) {
	t.Parallel()
	got := corev1.VolumeMount{Name: "v", MountPath: "/v", ReadOnly: true}
	for want, differs := range map[string]bool{
		"{name: v, mountPath: /v, readOnly: true}":             false,
		"{name: v, mountPath: /v}":                             true,
		"{name: v, mountPath: /v, readOnly: true, subPath: s}": true,
	} {
		if diff := expect.Diff(t, want, got); (diff != "") != differs {
			t.Errorf("%s: difference %q, want one: %t", want, diff, differs)
		}
	}
}
