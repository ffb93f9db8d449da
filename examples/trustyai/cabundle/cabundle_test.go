package cabundle_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/cabundle"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	found := cabundle.Found{
		"openshift-service-ca.crt": {Value: &corev1.ConfigMap{Data: map[string]string{"service-ca.crt": "C\n"}}},
		"odh-trusted-ca-bundle": {Value: &corev1.ConfigMap{Data: map[string]string{
			"odh-ca-bundle.crt": "B", "ca-bundle.crt": " \n", "x": "D",
		}}},
	}
	if got := found.Merge("E", " "); got != "B\nC\nE\n" {
		t.Errorf("got %q", got)
	}
	if got := (cabundle.Found)(nil).Merge(); got != "" {
		t.Errorf("nothing found: got %q", got)
	}
}
