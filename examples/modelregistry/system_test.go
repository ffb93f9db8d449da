package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/catalog"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/registry"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// registrySystem is the controller of registries with one registry.
func registrySystem(t testing.TB, spec v1beta1.ModelRegistrySpec, change func(*v1beta1.ModelRegistrySpec)) reconciletest.System {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	configured := settings()
	configured.Webhooks, configured.DefaultDomain = true, "apps.example.com"
	return reconciletest.System{
		Scheme:   scheme,
		CRDPaths: []string{"config/crd", "config/openshift"},
		Setup: func(mgr manager.Manager) error {
			registries, err := registry.New(mgr.GetScheme(), configured)
			if err != nil {
				return err
			}
			return registries.SetupWithManager(mgr)
		},
		Owners: []client.Object{&v1beta1.ModelRegistry{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Spec: spec}},
		Change: func(o client.Object) { change(&o.(*v1beta1.ModelRegistry).Spec) },
	}
}

func external() v1beta1.ModelRegistrySpec {
	return v1beta1.ModelRegistrySpec{
		MySQL:         &v1beta1.MySQLConfig{Host: "db", Username: "u", Database: "d"},
		KubeRBACProxy: &v1beta1.ProxyConfig{},
	}
}

func withoutProxy(spec *v1beta1.ModelRegistrySpec) { spec.KubeRBACProxy = nil }

// catalogSystem is the controller of the catalog. It has no owner: a source that offers itself takes its place.
func catalogSystem(t testing.TB, given ...client.Object) reconciletest.System {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	configured := catalogSettings()
	configured.Namespace, configured.DefaultDomain = "default", "apps.example.com"
	source := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "mine", Labels: map[string]string{"opendatahub.io/catalog-source": "true"}}}
	source.Data = map[string]string{"sources.yaml": "catalogs: []"}
	return reconciletest.System{
		Scheme:    scheme,
		CRDPaths:  []string{"config/openshift", "config/platform"},
		Given:     given,
		GivenYAML: "apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n",
		Setup: func(mgr manager.Manager) error {
			c, err := catalog.New(mgr.GetScheme(), configured)
			if err != nil {
				return err
			}
			return c.SetupWithManager(mgr)
		},
		Owners: []client.Object{source},
		Change: func(o client.Object) { delete(o.(*corev1.ConfigMap).Data, "sources.yaml") },
	}
}

// TestRegistryConverges checks the controller of registries with API calls that fail in every way: a draw of the 500 cases, which
// reconciletest.EnvSeed changes.
func TestRegistryConverges(t *testing.T) {
	t.Parallel()
	s := registrySystem(t, external(), withoutProxy)
	s.Cases = 60
	reconciletest.Converge(t, s)
}

// TestSilentAtRest checks that passes with nothing to do send no request.
func TestSilentAtRest(t *testing.T) {
	t.Parallel()
	t.Run("registry", func(t *testing.T) {
		t.Parallel()
		reconciletest.Steady(t, registrySystem(t, external(), withoutProxy), reconciletest.Budget{})
	})
	t.Run("registry with its database", func(t *testing.T) {
		t.Parallel()
		spec := v1beta1.ModelRegistrySpec{Postgres: &v1beta1.PostgresConfig{GenerateDeployment: ptr(true)}}
		reconciletest.Steady(t, registrySystem(t, spec, withoutProxy), reconciletest.Budget{})
	})
	t.Run("catalog", func(t *testing.T) {
		t.Parallel()
		reconciletest.Steady(t, catalogSystem(t), reconciletest.Budget{})
	})
}

// TestRequestsOfAChange checks what changes cost: one write for each child that is another afterwards, one for the status, and
// those of the inventory.
func TestRequestsOfAChange(t *testing.T) {
	t.Parallel()
	t.Run("image", func(t *testing.T) {
		t.Parallel()
		reconciletest.Writes(t, registrySystem(t, external(), withoutProxy), func(o client.Object) {
			o.(*v1beta1.ModelRegistry).Spec.Rest.Image = "quay.io/other:1"
		}, 3)
	})
	t.Run("source of the catalog", func(t *testing.T) {
		t.Parallel()
		s := catalogSystem(t)
		reconciletest.Writes(t, s, s.Change, 1)
	})
}

func ptr[T any](value T) *T { return &value }
