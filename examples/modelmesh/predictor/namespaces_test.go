package predictor_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/predictor"
)

func TestGone(t *testing.T) {
	t.Parallel()
	namespace := func(name, enabled string, phase corev1.NamespacePhase) *corev1.Namespace {
		return &corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"enabled": enabled}}, Status: corev1.NamespaceStatus{Phase: phase},
		}
	}
	n := &predictor.Namespaces{Enabled: func(o *corev1.Namespace) bool { return o.Labels["enabled"] == "true" }}
	if reason, err := n.Gone(t.Context(), "disabled"); reason != "" || err != nil {
		t.Errorf("without a reader: got %q, %v", reason, err)
	}
	n.Reader = fake.NewClientBuilder().WithObjects(
		namespace("enabled", "true", corev1.NamespaceActive), namespace("disabled", "false", corev1.NamespaceActive),
		namespace("terminating", "true", corev1.NamespaceTerminating),
	).Build()
	got := map[string]string{}
	for _, name := range []string{"enabled", "disabled", "terminating", "missing"} {
		reason, err := n.Gone(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = reason
	}
	want := map[string]string{
		"enabled": "", "disabled": "ModelMesh is not enabled in its namespace", "terminating": "its namespace is being deleted",
		"missing": "its namespace does not exist",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
