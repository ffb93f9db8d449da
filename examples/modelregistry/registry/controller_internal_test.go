package registry

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

var missing = apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, "object")

// planned returns the children of a registry on OpenShift, as "Kind name".
func planned(t *testing.T, m *v1beta1.ModelRegistry, f Fetched) (children []string) {
	t.Helper()
	r, rc, obs := observed(t, m, f)
	plan, err := r.PlanResources(t.Context(), rc, obs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range plan.Children {
		o := plan.Children[i].Object
		text := fmt.Sprintf("%s %s", o.GetObjectKind().GroupVersionKind().Kind, o.GetName())
		if route, isManifest := o.(*unstructured.Unstructured); isManifest && route.GetKind() == "Route" {
			host, _, _ := unstructured.NestedString(route.Object, "spec", "host")
			text += " of " + host
		}
		children = append(children, text)
	}
	return children
}

// observed runs the phases of a registry on OpenShift before the plan.
func observed(t *testing.T, m *v1beta1.ModelRegistry, f Fetched) (*Reconciler, rcontext, Observation) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, v1beta1.AddToScheme, openshift.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	set, err := newChildren(scheme)
	if err != nil {
		t.Fatal(err)
	}
	r := &Reconciler{settings: v1beta1.Settings{
		RestImage: "rest:1", ProxyImage: "proxy:1", PostgresImage: "postgres:1", Namespace: "registries", Webhooks: true,
	}, children: set}
	m.Namespace, m.UID = "registries", "1"
	f.deployment.Error, f.endpoints.Error, f.route.Error, f.group.Error = missing, missing, missing, missing
	f.pods.Value = &corev1.PodList{}
	if f.ingress.Value == nil {
		f.ingress.Error = missing
	}
	rc := rcontext{Object: m, Now: time.Unix(0, 0)}
	return r, rc, r.ComposeState(t.Context(), rc, f)
}

// TestProxySwitchedOff checks that a registry whose proxy was removed does not report the condition of the proxy.
func TestProxySwitchedOff(t *testing.T) {
	t.Parallel()
	before := []metav1.Condition{{Type: conditionProxy, Status: metav1.ConditionTrue, Reason: "ResourcesAvailable"}}
	for name, proxy := range map[string]*v1beta1.ProxyConfig{"on": {}, "off": nil} {
		m := withDatabase()
		m.Spec.KubeRBACProxy = proxy
		r, _, obs := observed(t, m, Fetched{})
		cm := conditions.NewManager(before, 1, time.Unix(0, 0))
		r.DecorateStatus(&v1beta1.ModelRegistryStatus{}, cm, reconcile.StatusContext[*v1beta1.ModelRegistry]{}, obs)
		reported := slices.ContainsFunc(cm.Conditions(), func(c metav1.Condition) bool { return c.Type == conditionProxy })
		if reported != (proxy != nil) {
			t.Errorf("%s: the condition is reported: %t", name, reported)
		}
	}
}

// TestDSN checks that the address of the database has a user, and a password if there is a Secret for it.
func TestDSN(t *testing.T) {
	t.Parallel()
	port, secret := int32(5432), &v1beta1.SecretKeyValue{Name: "s", Key: "k"}
	for want, password := range map[string]*v1beta1.SecretKeyValue{
		"postgresql://user:$(POSTGRES_PASSWORD)@db:5432/models": secret, "postgresql://user@db:5432/models": nil,
	} {
		got := facts{Spec: &v1beta1.ModelRegistrySpec{Postgres: &v1beta1.PostgresConfig{
			Host: "db", Port: &port, Username: "user", PasswordSecret: password, Database: "models",
		}}}.DSN()
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestInvalidSpec checks that a registry with an invalid spec has no children, and reports only that error.
func TestInvalidSpec(t *testing.T) {
	t.Parallel()
	r, rc, obs := observed(t, &v1beta1.ModelRegistry{ObjectMeta: metav1.ObjectMeta{Name: "r"}}, Fetched{}) // without a database
	plan, err := r.PlanResources(t.Context(), rc, obs)
	if len(plan.Children) > 0 {
		t.Errorf("children %v of an invalid spec", plan.Children)
	}
	if err == nil || health.Categorize(err).Category != health.InvalidSpec {
		t.Errorf("error %v, want an invalid spec", err)
	}
	if components := obs.GetComponentHealth(t.Context()); len(components) != 1 || components[0].Name != "" {
		t.Errorf("components %v, want none", components)
	}
}

// TestClusterDomain checks that the Route of a proxy without a domain is in the domain of the cluster's applications, or
// else in that of the cluster.
func TestClusterDomain(t *testing.T) {
	t.Parallel()
	for want, spec := range map[string]openshift.IngressSpec{
		"Route r-https of r-rest.apps.example":    {AppsDomain: "apps.example", Domain: "cluster.example"},
		"Route r-https of r-rest.cluster.example": {Domain: "cluster.example"},
	} {
		m := withDatabase()
		m.Spec.KubeRBACProxy = &v1beta1.ProxyConfig{ServiceRoute: v1beta1.RouteEnabled}
		ingress := reconcile.FetchResult[*openshift.Ingress]{Value: &openshift.Ingress{Spec: spec}}
		if children := planned(t, m, Fetched{ingress: ingress}); !slices.Contains(children, want) {
			t.Errorf("children %v, want %q", children, want)
		}
	}
}

// TestRouteOverHTTP checks that a registry gets a Route to its own port if its spec enables one.
func TestRouteOverHTTP(t *testing.T) {
	t.Parallel()
	for route, want := range map[string]bool{v1beta1.RouteEnabled: true, v1beta1.RouteDisabled: false, "": false} {
		m := withDatabase()
		m.Spec.Rest.ServiceRoute = route
		children := planned(t, m, Fetched{})
		if got := slices.ContainsFunc(children, func(c string) bool { return strings.HasPrefix(c, "Route r-http of") }); got != want {
			t.Errorf("serviceRoute %q: a route %t, want %t: %v", route, got, want, children)
		}
	}
}

// TestForeignCredentials checks that the Secret of a generated database is planned if it is missing or owned by the
// registry, and not if it has another or no owner.
func TestForeignCredentials(t *testing.T) {
	t.Parallel()
	name := v1beta1.CredentialsName("r")
	of := func(uid types.UID) *corev1.Secret {
		owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Other", Name: "other", UID: uid, Controller: new(true)}
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{owner}}}
	}
	for what, c := range map[string]struct {
		secret  reconcile.FetchResult[*corev1.Secret]
		planned bool
	}{
		"missing":     {reconcile.FetchResult[*corev1.Secret]{Error: missing}, true},
		"its own":     {reconcile.FetchResult[*corev1.Secret]{Value: of("1")}, true},
		"other owner": {reconcile.FetchResult[*corev1.Secret]{Value: of("2")}, false},
		"no owner":    {reconcile.FetchResult[*corev1.Secret]{Value: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}}, false},
	} {
		children := planned(t, withDatabase(), Fetched{secret: c.secret})
		if got := slices.Contains(children, "Secret "+name); got != c.planned {
			t.Errorf("%s: planned %t, want %t: %v", what, got, c.planned, children)
		}
	}
}

func withDatabase() *v1beta1.ModelRegistry {
	m := &v1beta1.ModelRegistry{ObjectMeta: metav1.ObjectMeta{Name: "r"}}
	m.Spec.Postgres = &v1beta1.PostgresConfig{GenerateDeployment: new(true)}
	return m
}
