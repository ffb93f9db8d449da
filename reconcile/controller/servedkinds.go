package controller

import (
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/description"
)

// locateKinds determines which kinds are namespaced. Optional kinds are determined when their CRD appears.
func locateKinds(mgr manager.Manager, kinds *declaration.Catalogue) error {
	for _, k := range kinds.Installable() {
		if k.Optional {
			k.Absent.Store(true) // until the watch of CRDs finds it
			continue
		}
		mapping, err := mgr.GetRESTMapper().RESTMapping(k.GroupKind(), k.Version)
		if meta.IsNoMatchError(err) {
			return fmt.Errorf("controller %q: %s is not installed: install its CRD, or declare it with controller.Optional: %w",
				kinds.Controller, declaration.Print(k.GroupVersionKind), err)
		}
		if err != nil {
			return fmt.Errorf("controller %q: look up %s: %w", kinds.Controller, declaration.Print(k.GroupVersionKind), err)
		}
		k.Cluster.Store(mapping.Scope.Name() == meta.RESTScopeNameRoot)
		checkPlural(mgr.GetLogger(), kinds.Controller, k, mapping.Resource.Resource)
	}
	return nil
}

// checkPlural logs a derived resource of the permissions that differs from the one of the API server.
func checkPlural(logger logr.Logger, controller string, k *declaration.Kind, resource string) {
	if derived := description.Resource(k); derived != resource {
		logger.Error(nil, "the derived rights name another resource than the API server has: add controller.Resource beside the kind, and generate them again",
			"controller", controller, "kind", declaration.Print(k.GroupVersionKind), "derived", derived, "resource", resource)
	}
}
