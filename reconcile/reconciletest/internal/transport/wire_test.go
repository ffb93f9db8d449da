package transport_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// newWire returns a wire to a fake API server. The owner is a Service.
func newWire(t *testing.T, rules ...rbacv1.PolicyRule) (*transport.Wire, *cluster.Cluster) {
	t.Helper()
	system, err := description.Prepare(description.System{
		Setup:  func(manager.Manager) error { return nil },
		Rules:  rules,
		Owners: []client.Object{&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}},
		Change: func(owner client.Object) { owner.SetLabels(map[string]string{"changed": "true"}) },
	})
	if err != nil {
		t.Fatal(err)
	}
	w, err := cluster.New(t.Context(), system, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Perform(t.Context(), description.StepA, true); err != nil {
		t.Fatal(err)
	}
	return transport.New(w), w
}

func configMap(name, color string) *corev1.ConfigMap {
	out := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	if color != "" {
		out.Data = map[string]string{"color": color}
	}
	return out
}

// given creates an object directly in the API server.
func given(t *testing.T, w *cluster.Cluster, obj client.Object) {
	t.Helper()
	if err := w.Client.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// TestCalls checks the name of the request of each client method, and the stored object.
func TestCalls(t *testing.T) {
	t.Parallel()
	wire, w := newWire(t)
	c, ctx := wire.Client, t.Context()
	given(t, w, configMap("a", "red"))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	given(t, w, pod)
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "of-"}}
	dry := configMap("a", "blue")
	ready := pod.DeepCopy()
	ready.Status.Phase = corev1.PodRunning
	steps := []struct {
		want    string
		changed bool
		do      func() error
	}{
		{"get configmaps default/a#1", false, func() error {
			return c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, &corev1.ConfigMap{})
		}},
		{"list configmaps default#1", false, func() error { return c.List(ctx, &corev1.ConfigMapList{}, client.InNamespace("default")) }},
		{"list configmaps#1", false, func() error { return c.List(ctx, &corev1.ConfigMapList{}) }},
		{"create configmaps default/b#1", true, func() error { return c.Create(ctx, configMap("b", "")) }},
		{"create configmaps default#1", true, func() error { return c.Create(ctx, made) }},
		{"update configmaps default/a (dry run)#1", false, func() error { return c.Update(ctx, dry, client.DryRunAll) }},
		{"update configmaps default/a#1", true, func() error { return c.Update(ctx, configMap("a", "green")) }},
		{"update configmaps default/a#2", false, func() error { return c.Update(ctx, configMap("a", "green")) }},
		{"patch configmaps default/a#1", true, func() error {
			return c.Patch(ctx, configMap("a", ""), client.RawPatch("application/merge-patch+json", []byte(`{"data":{"color":"blue"}}`)))
		}},
		{"apply configmaps default/a#1", true, func() error {
			return c.Apply(ctx, corev1apply.ConfigMap("a", "default").WithData(map[string]string{"size": "1"}), client.FieldOwner("test"))
		}},
		{"update pods/status default/p#1", true, func() error { return c.Status().Update(ctx, ready) }},
		{"patch pods/status default/p#1", true, func() error {
			return c.Status().Patch(ctx, pod.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"status":{"message":"x"}}`)))
		}},
		{"delete configmaps default/b#1", true, func() error { return c.Delete(ctx, configMap("b", "")) }},
		{"deletecollection configmaps default#1", false, func() error { return c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace("default")) }},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.want, err)
		}
		calls := wire.Calls()
		last := calls[len(calls)-1]
		if got := last.String(); got != step.want || last.Changed != step.changed {
			t.Errorf("got  %s, changed: %t\nwant %s, changed: %t", got, last.Changed, step.want, step.changed)
		}
	}
	if n := slices.IndexFunc(wire.Calls(), func(c transport.Call) bool { return c.Key.Name == made.Name && c.After != nil }); n < 0 {
		t.Errorf("no create has the generated name %s", made.Name)
	}
}

// TestRightsOfRequests checks that a request without permission is rejected with the missing verb. An apply that creates its object needs two verbs.
func TestRightsOfRequests(t *testing.T) {
	t.Parallel()
	patch := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "patch"}}
	create := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}}
	for name, c := range map[string]struct {
		rules   []rbacv1.PolicyRule
		there   bool
		missing string
	}{
		"both permissions, new":      {[]rbacv1.PolicyRule{patch, create}, false, ""},
		"both permissions, existing": {[]rbacv1.PolicyRule{patch, create}, true, ""},
		"without create, new":        {[]rbacv1.PolicyRule{patch}, false, "create"},
		"without create, existing":   {[]rbacv1.PolicyRule{patch}, true, ""},
		"without patch, new":         {[]rbacv1.PolicyRule{create}, false, "patch"},
		"without patch, existing":    {[]rbacv1.PolicyRule{create}, true, "patch"},
		"all permissions":            {nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wire, w := newWire(t, c.rules...)
			if c.there {
				given(t, w, configMap("a", "red"))
			}
			wanted := corev1apply.ConfigMap("a", "default").WithData(map[string]string{"color": "blue"})
			err := wire.Client.Apply(t.Context(), wanted, client.FieldOwner("test"), client.ForceOwnership)
			if c.missing == "" && err != nil || c.missing != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `add the verb "`+c.missing+`" on "configmaps"`)) {
				t.Errorf("got %v, want a rejection without %q", err, c.missing)
			}
			var stored corev1.ConfigMap
			if err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &stored); (err == nil && stored.Data["color"] == "blue") != (c.missing == "") {
				t.Errorf("stored is %v, %v", stored.Data, err)
			}
		})
	}
}
