package operator

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// checkOwners returns an error if the operator is restricted to namespaces but an owner is cluster-scoped.
func (p *process) checkOwners(mgr manager.Manager) error {
	if len(p.namespaces) == 0 {
		return nil
	}
	for _, c := range p.Controllers {
		d, err := c.Describe(p.scheme)
		if err != nil {
			return err
		}
		for _, watch := range d.Watches {
			kind, ok := parseKind(watch.GVK)
			if watch.Type != "For" || !ok {
				continue
			}
			mapping, err := mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
			if err != nil {
				continue // the set-up of the controller reports it
			}
			if mapping.Scope.Name() == meta.RESTScopeNameRoot {
				return fmt.Errorf("flag -%s %q: controller %q reconciles %s, which has no namespaces; leave the flag out",
					flagNamespaces, p.namespaces.String(), d.Controller, watch.GVK)
			}
		}
	}
	return nil
}

// parseKind parses a kind in the form of a page: apps/v1/Deployment, /v1/Namespace.
func parseKind(text string) (schema.GroupVersionKind, bool) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 { //nolint:mnd // group, version, kind
		return schema.GroupVersionKind{}, false
	}
	return schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]}, true
}
