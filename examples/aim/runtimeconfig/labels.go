package runtimeconfig

import (
	"path"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// PassesOn says whether the runtime config, which may be nil, passes the label of an
// owner on to its children. Patterns are those of path.Match; bad ones match nothing.
func PassesOn(config *aimv1alpha1.AIMRuntimeConfigCommon, key string) bool {
	if config == nil || config.LabelPropagation == nil || config.LabelPropagation.Enabled == nil || !*config.LabelPropagation.Enabled {
		return false
	}
	for _, pattern := range config.LabelPropagation.Match {
		if matched, err := path.Match(pattern, key); err == nil && matched {
			return true
		}
	}
	return false
}
