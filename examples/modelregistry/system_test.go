package main

import (
	"errors"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/catalog"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/registry"
)

// newScheme knows the kinds of the operator.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	err := clientscheme.AddToScheme(scheme)
	for _, add := range registries().AddToScheme {
		err = errors.Join(err, add(scheme))
	}
	return scheme, err
}

// caches are those of the operator.
func caches(t testing.TB, scheme *runtime.Scheme) cache.Options {
	t.Helper()
	o := registries()
	err := configure(&o, scheme)
	if err != nil {
		t.Fatal(err)
	}
	options, err := controller.CacheOptions(scheme, o.Controllers...)
	if err != nil {
		t.Fatal(err)
	}
	return options
}

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
		Cache:    caches(t, scheme),
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

// catalogSystem is the controller of the catalog with a source that offers itself, which loses its document by a change, and more
// inputs. Configure changes the settings, nil nothing.
func catalogSystem(t testing.TB, configure func(*catalog.Settings), inputs ...client.Object) reconciletest.System {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	setup := func(disabled bool) func(mgr manager.Manager) error {
		return func(mgr manager.Manager) error {
			configured := catalogSettings()
			configured.Namespace, configured.DefaultDomain, configured.Disabled = "default", "apps.example.com", disabled
			if configure != nil {
				configure(&configured)
			}
			c, err := catalog.New(mgr.GetScheme(), configured)
			if err != nil {
				return err
			}
			return c.SetupWithManager(mgr)
		}
	}
	source := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "mine", Labels: map[string]string{"opendatahub.io/catalog-source": "true"},
	}}
	source.Data = map[string]string{"sources.yaml": "catalogs: []"}
	return reconciletest.System{
		Scheme:    scheme,
		Cache:     caches(t, scheme),
		CRDPaths:  []string{"config/openshift", "config/platform"},
		GivenYAML: "apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n",
		Setup:     setup(false),
		Singleton: &reconciletest.Singleton{Inputs: append([]client.Object{source}, inputs...), Off: setup(true)},
		Change: func(o client.Object) {
			if o, ok := o.(*corev1.ConfigMap); ok {
				delete(o.Data, "sources.yaml")
			}
		},
	}
}

// TestRegistryConverges checks the controller of registries with API calls that fail in every way: a draw of the 500 cases, which
// reconciletest.EnvSeed changes.
func TestRegistryConverges(t *testing.T) {
	t.Parallel()
	s := registrySystem(t, external(), withoutProxy)
	s.Cases = 60
	s.Accepted = []reconciletest.Acceptance{{
		Check: check.State, About: "r-auth-delegator",
		Reason: "the product names the ClusterRoleBinding after the registry alone: registries of one name in two namespaces share it",
	}, {
		Check: check.Deletes, About: "422 several times of apply apps/deployments",
		Reason: "a Deployment that rejects a change as forbidden is recreated",
	}}
	reconciletest.Converge(t, s)
}

// TestRequestsOfAChange checks what changes cost: one write for each child that is another afterwards, one for the status, and
// those of the inventory.
func TestRequestsOfAChange(t *testing.T) {
	t.Parallel()
	t.Run("image", func(t *testing.T) {
		t.Parallel()
		reconciletest.Writes(t, registrySystem(t, external(), withoutProxy), func(o client.Object) {
			o.(*v1beta1.ModelRegistry).Spec.Rest.Image = "quay.io/other:1"
		}, 5) // the pull policy of an image with a tag is another one: it is given back and defaulted anew
	})
	t.Run("proxy", func(t *testing.T) { // Service, Deployment, 4 that go, the inventory, and the status twice
		t.Parallel()
		s := registrySystem(t, external(), withoutProxy)
		reconciletest.Writes(t, s, s.Change, 9)
	})
	t.Run("source of the catalog", func(t *testing.T) {
		t.Parallel()
		s := catalogSystem(t, nil)
		reconciletest.Writes(t, s, s.Change, 1)
	})
	t.Run("administrators of the catalog", func(t *testing.T) {
		t.Parallel()
		s := catalogSystem(t, nil, administrators())
		administratorsChange(&s)
		reconciletest.Writes(t, s, s.Change, 1+1) // and the source
	})
}
