package main

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/rights"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
)

// rules returns the rules of config/rbac/role.yaml.
func rules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	page, err := website().Page()
	if err != nil {
		t.Fatal(err)
	}
	return page.Rules()
}

// TestRights checks that the operator uses each of its permissions and needs no others.
func TestRights(t *testing.T) {
	namespace, ctx, c := env.Namespace(t), t.Context(), env.Client()
	granted := env.Rights(t, rules(t))
	var counted requests.Requests
	counted.Inject(rights.RefusedOnce())
	election := []string{"-leader-elect", "-leader-election-namespace=" + namespace}
	stop := start(t, counted.Observe(granted.Config()), election...)

	site := func(name string) *v1.Website {
		return &v1.Website{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1.WebsiteSpec{Text: "hello"}}
	}
	children := func() []client.Object {
		return []client.Object{&corev1.ConfigMap{}, &corev1.Service{}, &appsv1.Deployment{}}
	}
	exist := func(name string) {
		t.Helper()
		for _, child := range children() {
			eventually(t, func() bool { return c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, child) == nil })
		}
	}
	create := func(object client.Object) {
		t.Helper()
		if err := c.Create(ctx, object); err != nil {
			t.Fatal(err)
		}
	}
	create(site("one"))
	exist("one")
	two := site("two")
	granted.Without(t, "update quickstart.example.com/websites/finalizers", func() { create(two) })
	if err := c.Patch(ctx, two, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"text":"try again"}}`))); err != nil {
		t.Fatal(err)
	}
	exist("two")

	stop() // children planned by an earlier version exist when the operator starts again
	var old []client.Object
	for _, child := range children() {
		if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "one"}, child); err != nil {
			t.Fatal(err)
		}
		twin, err := rights.Outdated(child, "old", env.Scheme)
		if err != nil {
			t.Fatal(err)
		}
		if err := rights.CreateOutdated(ctx, c, twin); err != nil {
			t.Fatal(err)
		}
		old = append(old, twin)
	}
	start(t, granted.Config(), election...)
	for _, twin := range old {
		eventually(t, func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(twin), twin)) })
	}
	granted.Check(t, map[string]string{
		"patch events.k8s.io/events": "for a repeated event, tested in the library",
	})
}
