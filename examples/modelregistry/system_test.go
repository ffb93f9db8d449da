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

// newScheme returns a scheme with the kinds of the operator.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	err := clientscheme.AddToScheme(scheme)
	for _, add := range registries().AddToScheme {
		err = errors.Join(err, add(scheme))
	}
	return scheme, err
}

// caches returns the cache options of the operator.
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

// registrySystem returns a system with the controller of registries and one registry.
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

// catalogSystem returns a system with the controller of the catalog, a source whose document the change removes, and further
// inputs. Configure changes the settings; it may be nil.
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

// TestRegistryConverges checks the controller of registries with failing requests: a random sample of 500 cases, with
// the seed reconciletest.EnvSeed.
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

// TestRequestsOfAChange checks the number of writes of a change: one for each changed child, one for the status, and
// those of the inventory.
func TestRequestsOfAChange(t *testing.T) {
	t.Parallel()
	t.Run("image", func(t *testing.T) {
		t.Parallel()
		reconciletest.Writes(t, registrySystem(t, external(), withoutProxy), func(o client.Object) {
			o.(*v1beta1.ModelRegistry).Spec.Rest.Image = "quay.io/other:1"
		}, 5) // the pull policy of an image with a tag differs: the operator releases the field and the API server sets the new default
	})
	t.Run("proxy", func(t *testing.T) { // Service, Deployment, 4 deletions, the inventory, and the status twice
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
		reconciletest.Writes(t, s, s.Change, 1+1) // plus the write of the source
	})
}
