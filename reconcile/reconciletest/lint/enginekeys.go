package lint

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// EngineKeys reports the labels and annotations of the engine ([apply.IsEngineKey]) that a plan sets on children, also in pod templates
// and selectors. The phases receive their owner without these keys, but an object that FetchRemoteState read still has them. A child with
// a copy appears to belong to another set, and pods with a copy restart when the inventory of the owner changes.
//
// The domain is that of the engine ([apply.Options]), empty for the default. Kept children ([apply.Plan.Keep]) are skipped. The error
// joins all keys, each with its child and its path; nil if there are none.
func EngineKeys(domain string, plan reconcile.PlanResult) error {
	var errs []error
	for i := range plan.Children {
		child := &plan.Children[i]
		if child.Existing {
			continue
		}
		var planned any = child.Object
		if child.Configuration != nil {
			planned = child.Configuration
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(planned)
		if err != nil {
			errs = append(errs, fmt.Errorf("child %d: convert %T: %w", i, planned, err))
			continue
		}
		metadata, _ := content["metadata"].(map[string]any)
		eachEngineKey(domain, "", content, func(path, key string) {
			errs = append(errs, fmt.Errorf("child %d, %T %v: %s has the engine's key %s: do not copy it", //nolint:err113 // a finding
				i, planned, metadata["name"], path, key))
		})
	}
	return errors.Join(errs...)
}

// eachEngineKey calls found for each key of the engine in the maps of a value, in the order of their paths.
func eachEngineKey(domain, path string, value any, found func(path, key string)) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if apply.IsEngineKey(domain, key) {
				found(path, key)
				continue
			}
			below := key
			if path != "" {
				below = path + "." + key
			}
			eachEngineKey(domain, below, v[key], found)
		}
	case []any:
		for i := range v {
			eachEngineKey(domain, path+"["+strconv.Itoa(i)+"]", v[i], found)
		}
	}
}
