package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// discoverTimeout limits the discovery request of the set-up.
const discoverTimeout = 10 * time.Second

// checkStatus returns an error for an owner kind without the status subresource: the API server would drop or reject every
// status, and no condition would be visible. It accepts an owner type without a status. When discovery fails, checkStatus logs
// the error and returns nil.
func checkStatus(mgr manager.Manager, kinds *declaration.Catalogue) error {
	owner := kinds.Kinds[0]
	if owner.Representation == declaration.Virtual || !owner.HasStatus() || mgr.GetConfig() == nil {
		return nil
	}
	missing, err := lacksStatusSubresource(mgr, owner)
	if err != nil {
		mgr.GetLogger().Info("cannot check whether the kind has a status subresource", "controller", kinds.Controller,
			"kind", declaration.Print(owner.GroupVersionKind), "error", err.Error())
		return nil
	}
	if missing {
		return fmt.Errorf("controller %q: %s is served without the status subresource, so that no status could be stored: add it to the CRD "+
			"(subresources: {status: {}}, with controller-gen +kubebuilder:subresource:status on the Go type)",
			kinds.Controller, declaration.Print(owner.GroupVersionKind))
	}
	return nil
}

func lacksStatusSubresource(mgr manager.Manager, owner *declaration.Kind) (bool, error) {
	d, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), discoverTimeout) //nolint:forbidigo // the set-up has no context
	defer cancel()
	served, err := d.ServerResourcesForGroupVersionWithContext(ctx, owner.GroupVersion().String())
	if err != nil {
		return false, err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == name })
	}
	mapping, err := mgr.GetRESTMapper().RESTMapping(owner.GroupKind(), owner.Version)
	if err != nil {
		return false, err
	}
	return has(mapping.Resource.Resource) && !has(mapping.Resource.Resource+"/status"), nil
}
