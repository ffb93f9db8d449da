package aimservice

import (
	"slices"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/templates"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/runtimeconfig"
)

// cacheScope returns the scope of a template in the terms of caches.
func cacheScope(t *aimv1alpha1.AIMServiceTemplate) aimv1alpha1.AIMServiceTemplateScope {
	return aimv1alpha1.AIMServiceTemplateScope(aimv1alpha1.ReferenceTo(t).Scope)
}

// findCache finds the cache of a template: in a dedicated mode the one that the service controls, else the best shared one. Equal
// caches are sorted by name.
func findCache(
	service *aimv1alpha1.AIMService, t *aimv1alpha1.AIMServiceTemplate, caches []aimv1alpha1.AIMTemplateCache,
) *aimv1alpha1.AIMTemplateCache {
	type cache = aimv1alpha1.AIMTemplateCache
	dedicated := service.Spec.GetCachingMode() == aimv1alpha1.CachingModeDedicated
	return templates.Selector[cache]{
		Name: func(c *cache) string { return c.Name },
		Filters: []templates.Filter[cache]{
			templates.Keep("mode", "OtherMode", func(c *cache) bool {
				return dedicated == (c.Spec.Mode == aimv1alpha1.TemplateCacheModeDedicated) && (!dedicated || metav1.IsControlledBy(c, service))
			}),
			templates.Keep("template", "OtherTemplate", func(c *cache) bool {
				scope := c.Spec.TemplateScope
				return c.Spec.TemplateName == t.Name && (scope == cacheScope(t) || scope == aimv1alpha1.AIMServiceTemplateScopeUnknown)
			}),
		},
		Preferences: []templates.Preference[cache]{
			templates.InOrder("status", func(c *cache) string { return string(c.Status.Status) },
				"Ready", "Progressing", "Pending", "Degraded", "NotAvailable", "Failed"),
		},
	}.Select(caches).Best()
}

// needsCache reports whether there are weights to cache.
func (obs ServiceObservation) needsCache() bool {
	return obs.template != nil && len(obs.template.Status.ModelSources) > 0
}

// newCache builds the cache of the service's template. A valid name can be derived from the name of every stored template.
func (obs ServiceObservation) newCache() *aimv1alpha1.AIMTemplateCache {
	service, t := obs.service, obs.template
	mode := service.Spec.GetCachingMode()
	namespace := service.Namespace
	if t.Namespace == "" {
		namespace = "" // a cluster template and a namespace template may have the same name
	}
	name, _ := GenerateTemplateCacheName(t.Name, namespace, service.Name, string(service.UID), mode)
	labels := childLabels(service, obs.runtimeConfig.Merged, nil)
	if mode != aimv1alpha1.CachingModeDedicated { // labels of one service must not appear on a shared cache
		labels = createdLabels(service)
		labels[serviceLabel] = serviceLabelValue(service)
	}
	settings := runtimeconfig.Merge(&aimv1alpha1.AIMRuntimeConfigCommon{Storage: service.Spec.Storage}, obs.runtimeConfig.Merged)
	return &aimv1alpha1.AIMTemplateCache{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: service.Namespace, Labels: labels},
		Spec: aimv1alpha1.AIMTemplateCacheSpec{
			TemplateName: t.Name, TemplateScope: cacheScope(t), Mode: aimv1alpha1.AIMTemplateCacheMode(mode),
			Env: runtimeconfig.MergeEnv(
				service.Spec.Env, ptr.Deref(t.Spec.Caching, aimv1alpha1.AIMTemplateCachingConfig{}).Env, t.Spec.Env,
			),
			StorageClassName:  ptr.Deref(ptr.Deref(settings.Storage, aimv1alpha1.AIMStorageConfig{}).DefaultStorageClassName, ""),
			RuntimeConfigName: service.Spec.RuntimeConfigName, ImagePullSecrets: service.Spec.ImagePullSecrets,
		},
	}
}

// cacheHealth returns the health of the cache.
func (obs ServiceObservation) cacheHealth() health.Component {
	if !obs.needsCache() {
		return health.Component{}
	}
	c := health.Component{Name: "Cache", Dependency: health.Downstream, Child: true}
	if obs.cache != nil {
		return cacheStates.assess(c, "Cache "+obs.cache.Name, obs.cache.Status.Status)
	}
	c.State, c.Reason, c.Message = health.Progressing, "CacheCreating", "The cache is being made"
	if volumes, _ := claimedVolumes(obs.isvc.Value); len(volumes) > 0 {
		c.State = health.Degraded
		if obs.service.Spec.GetCachingMode() == aimv1alpha1.CachingModeShared {
			c.Reason, c.Message = "CacheLost", "The cache in use is gone and is being made again"
		}
	}
	return c
}

// abandoned lists the caches to delete with a service: those created for it that are not ready and that no other service of the
// namespace uses.
func (f ServiceFetchResult) abandoned(service *aimv1alpha1.AIMService) []aimv1alpha1.AIMTemplateCache {
	if f.caches.HasError() || f.neighbours.HasError() {
		return nil
	}
	return slices.DeleteFunc(f.caches.Value.Items, func(c aimv1alpha1.AIMTemplateCache) bool {
		return c.Labels[serviceLabel] != serviceLabelValue(service) || c.Status.Status == aimv1alpha1.AIMStatusReady ||
			usedByOthers(&c, service, f.neighbours.Value.Items)
	})
}

func usedByOthers(c *aimv1alpha1.AIMTemplateCache, service *aimv1alpha1.AIMService, services []aimv1alpha1.AIMService) bool {
	if metav1.GetControllerOf(c) != nil {
		return !metav1.IsControlledBy(c, service)
	}
	names := func(ref *aimv1alpha1.AIMResolvedReference, name string) bool { return ref != nil && ref.Name == name }
	return slices.ContainsFunc(services, func(other aimv1alpha1.AIMService) bool {
		cache := ptr.Deref(other.Status.Cache, aimv1alpha1.AIMServiceCacheStatus{}).TemplateCacheRef
		uses := other.Spec.Template.Name == c.Spec.TemplateName ||
			names(other.Status.ResolvedTemplate, c.Spec.TemplateName) || names(cache, c.Name)
		return uses && other.UID != service.UID && other.DeletionTimestamp.IsZero()
	})
}
