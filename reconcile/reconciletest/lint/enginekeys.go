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

// EngineKeys reports the labels and annotations of the engine ([apply.IsEngineKey]) that a plan gives to its children, also in Pod templates and
// selectors. The phases see their owner without these keys, but an object that FetchRemoteState read still has them. A child with a copy
// claims to belong to a set that it does not belong to, and Pods with a copy restart when the inventory of the owner changes.
//
// The domain is that of the engine ([apply.Options]), empty for the default. Children that stay as they are ([apply.Plan.Keep]) are left out. The
// error joins all keys, each with its child and its path; nil is a plan without any.
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
			errs = append(errs, fmt.Errorf("child %d, %T %v: %s has the key %s of the engine: do not copy it", //nolint:err113 // a finding
				i, planned, metadata["name"], path, key))
		})
	}
	return errors.Join(errs...)
}

// eachEngineKey calls found with each key of the engine in the maps of a value, in the order of their paths.
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
