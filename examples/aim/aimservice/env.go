package aimservice

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/runtimeconfig"
)

const cachePath = "/workspace/cache"

// containerEnv is the env of the inference container, sorted by name: defaults,
// runtime config, what the template stands for, its env, the model, and the
// service, each over what is before it.
func containerEnv(
	runtime []corev1.EnvVar, template *aimv1alpha1.AIMServiceTemplateSpecCommon, modelID string, service []corev1.EnvVar,
) []corev1.EnvVar {
	defaults := []corev1.EnvVar{{Name: "AIM_CACHE_PATH", Value: cachePath}, {Name: "VLLM_ENABLE_METRICS", Value: "true"}}
	var profile, model []corev1.EnvVar
	if template.ProfileID != "" {
		profile = append(profile, corev1.EnvVar{Name: "AIM_PROFILE_ID", Value: template.ProfileID})
	}
	if template.Metric != nil {
		profile = append(profile, corev1.EnvVar{Name: "AIM_METRIC", Value: string(*template.Metric)})
	}
	if template.Precision != nil {
		profile = append(profile, corev1.EnvVar{Name: "AIM_PRECISION", Value: string(*template.Precision)})
	}
	if modelID != "" {
		model = append(model, corev1.EnvVar{Name: "AIM_MODEL_ID", Value: modelID})
	}
	env := runtimeconfig.MergeEnv(defaults, runtime, profile, template.Env, model, service)
	slices.SortFunc(env, func(a, b corev1.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	return env
}

// envOf returns the env of a runtime config, nil for none.
func envOf(config *aimv1alpha1.AIMRuntimeConfigCommon) []corev1.EnvVar {
	if config == nil {
		return nil
	}
	return config.Env
}
