package install

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

// definition has the names in a CRD.
type definition struct {
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind   string `json:"kind"`
			Plural string `json:"plural"`
		} `json:"names"`
	} `json:"spec"`
}

// definitions decodes CRDs, by file name.
func definitions(crds map[string]string) (map[string]definition, error) {
	decoded := map[string]definition{}
	for _, file := range slices.Sorted(maps.Keys(crds)) {
		var crd definition
		if err := yaml.Unmarshal([]byte(crds[file]), &crd); err != nil {
			return nil, fmt.Errorf("install: Config.CRDs: %s: %w", file, err)
		}
		decoded[file] = crd
	}
	return decoded, nil
}

// checkResources reports kinds of the controllers whose permissions contain another resource than their CRD. The
// permissions are derived without discovery, from the name of the kind.
func checkResources(page dataflow.Page, crds map[string]definition) error {
	var errs []error
	for _, file := range slices.Sorted(maps.Keys(crds)) {
		crd := crds[file]
		for _, c := range page.Controllers {
			if names := crd.Spec.Names; names.Plural != "" && uses(c, crd.Spec.Group, names.Kind) && !permits(c, crd.Spec.Group, names.Plural) {
				errs = append(errs, fmt.Errorf("install: Config.CRDs: %s: the resource of %s is %q, which the permissions of the controller %q do not name: "+
					"add controller.Resource(%q) to the declaration of the kind", file, names.Kind, names.Plural, c.Controller, names.Plural))
			}
		}
	}
	return errors.Join(errs...)
}

// clusterResources returns the cluster-scoped resources of the page and of the CRDs. A Role cannot permit them.
func clusterResources(page dataflow.Page, crds map[string]definition) []string {
	all := slices.Clone(page.ClusterResources)
	for _, file := range slices.Sorted(maps.Keys(crds)) {
		crd := crds[file]
		name := crd.Spec.Names.Plural + "." + crd.Spec.Group
		if crd.Spec.Scope == "Cluster" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// uses reports whether the controller reads or writes the kind.
func uses(c dataflow.Description, group, kind string) bool {
	return slices.ContainsFunc(c.Access, func(a dataflow.Access) bool {
		return strings.HasPrefix(a.GVK, group+"/") && strings.HasSuffix(a.GVK, "/"+kind)
	})
}

// permits reports whether a rule contains the resource.
func permits(c dataflow.Description, group, resource string) bool {
	for _, rule := range c.Rules {
		if slices.Contains(rule.APIGroups, group) && slices.Contains(rule.Resources, resource) {
			return true
		}
	}
	return false
}
