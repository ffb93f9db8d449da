package reconciletest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/rights"
)

// TestRightsOfAccount simulates an operator with a few requests.
func TestRightsOfAccount(t *testing.T) {
	t.Parallel()

	namespace := env.Namespace(t)
	rights := env.Rights(t, []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "create", "patch", "delete"}},
		{APIGroups: []string{"apps"}, Resources: []string{"deployments/status"}, Verbs: []string{"patch"}},
	})

	operator, err := client.New(rights.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}

	ctx, key := t.Context(), client.ObjectKey{Namespace: namespace, Name: "x"}
	check := func(when string, unused map[string]string, want ...string) {
		t.Helper()

		inner := &witness{TB: t}
		rights.Check(inner, unused)

		got := strings.Join(inner.failures, "\n")
		if len(inner.failures) != len(want) {
			t.Errorf("%s: want %d failures, got:\n%s", when, len(want), got)
		}

		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: want a failure with %q, got:\n%s", when, part, got)
			}
		}
	}

	check("before any request", map[string]string{"delete configmaps": "", "get configmaps": "never", "get pods": "never"},
		`"create configmaps"`, `"delete configmaps"`, `"patch configmaps"`, `"patch apps/deployments/status"`, `no permission "get pods"`)

	content := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"b"}}`)
	applied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "x"}}

	if err := operator.Patch(ctx, applied, client.RawPatch("application/apply-patch+yaml", content), client.FieldOwner("test")); err != nil {
		t.Fatal(err)
	}

	status := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "none"}}
	if err := operator.Status().Patch(ctx, status, client.RawPatch("application/merge-patch+json", []byte(`{}`))); !apierrors.IsNotFound(err) {
		t.Fatalf("want permissions for a missing object, got %v", err)
	}

	rights.Await(t, "create configmaps")
	check("after an apply that creates an object", map[string]string{"get configmaps": "never"}, `"delete configmaps"`)

	rights.Without(t, "delete configmaps", func() {
		if err := operator.Delete(ctx, applied); !apierrors.IsForbidden(err) {
			t.Errorf("want no permission to delete, got %v", err)
		}
	})
	check("after a request without permission", map[string]string{"get configmaps": "never"})

	if err := operator.Get(ctx, key, &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}

	check("with all permissions used", nil)
}

// TestMissingPermissions simulates an operator that sends requests without permission.
func TestMissingPermissions(t *testing.T) {
	t.Parallel()

	namespace := env.Namespace(t)
	rights := env.Rights(t, []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}})

	operator, err := client.New(rights.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}

	if err := operator.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}

	if err := operator.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "x"}, &corev1.Secret{}); !apierrors.IsForbidden(err) {
		t.Fatalf("want no permission for secrets, got %v", err)
	}

	inner := &witness{TB: t}
	rights.Check(inner, nil)

	want := "missing permission: get secrets " + namespace + "/x by " + rights.User() + ": 403: "
	if len(inner.failures) != 1 || !strings.HasPrefix(inner.failures[0], want) {
		t.Errorf("want one failure %q, got %q", want, inner.failures)
	}
}

func TestOutdated(t *testing.T) {
	t.Parallel()

	child := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "x", UID: "1", ResourceVersion: "2", Labels: map[string]string{"a": "b"},
			Annotations: map[string]string{"c": "d"}, OwnerReferences: []metav1.OwnerReference{{Name: "owner"}},
		},
		Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1"}, Ports: []corev1.ServicePort{{Port: 80}}},
	}

	twin, err := rights.Outdated(child, "old", clientgoscheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}

	got := &corev1.Service{}
	if err := clientgoscheme.Scheme.Convert(twin, got, nil); err != nil {
		t.Fatal(err)
	}

	want := child.DeepCopy()
	want.Name, want.UID, want.ResourceVersion = "old", "", ""
	want.Spec.ClusterIP, want.Spec.ClusterIPs = "", nil

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
