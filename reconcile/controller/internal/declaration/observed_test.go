package declaration_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// TestObservedNamespaces checks that the number of recorded namespaces is limited, and that a known namespace does not count as new.
func TestObservedNamespaces(t *testing.T) {
	t.Parallel()
	see := func(o *declaration.Observed, namespace, version string) {
		shown := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "x"}}
		shown.SetResourceVersion(version)
		o.See(shown)
	}
	var o declaration.Observed
	for i := range declaration.MaxNamespaces {
		see(&o, fmt.Sprintf("ns-%d", i), "1")
	}
	see(&o, "ns-0", "2")
	if !o.Reached("ns-0", "2") || !o.Reached("ns-1", "1") || o.Size() != declaration.MaxNamespaces {
		t.Errorf("an event of a known namespace cost what was known of others: %d are left", o.Size())
	}
	see(&o, "one-more", "3")
	if !o.Reached("one-more", "3") || o.Reached("ns-1", "1") || o.Size() != 1 {
		t.Errorf("one namespace too many: want it alone, got %d", o.Size())
	}
}
