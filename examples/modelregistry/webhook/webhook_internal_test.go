package webhook

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// TestNameIsFree checks that a name can be used by one registry of the cluster only, and that updates and retried
// requests are allowed.
func TestNameIsFree(t *testing.T) {
	t.Parallel()
	of := func(namespace, name string) *v1beta1.ModelRegistry {
		return &v1beta1.ModelRegistry{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	live := fake.NewClientBuilder().WithScheme(scheme).WithObjects(of("a", "taken")).
		WithIndex(&v1beta1.ModelRegistry{}, "metadata.name", func(o client.Object) []string { return []string{o.GetName()} }).Build()
	for name, tc := range map[string]struct {
		made, old *v1beta1.ModelRegistry
		free      bool
	}{
		"another name":      {made: of("b", "other"), free: true},
		"another namespace": {made: of("b", "taken")},
		"the same":          {made: of("a", "taken"), free: true},
		"an update":         {made: of("b", "taken"), old: of("b", "taken"), free: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems, err := nameIsFree(live)(t.Context(), tc.made, tc.old)
			if err != nil || (len(problems) == 0) != tc.free {
				t.Errorf("problems %v, error %v; want free: %t", problems, err, tc.free)
			}
		})
	}
}
