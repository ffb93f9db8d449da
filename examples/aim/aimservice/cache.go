package aimservice

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/runtimeconfig"
	"github.com/reconcilekit/reconcilekit/health"
)

// statusLadder orders the states of caches, best first.
var statusLadder = []aimv1alpha1.AIMStatus{ //nolint:gochecknoglobals // a table
	aimv1alpha1.AIMStatusReady, aimv1alpha1.AIMStatusProgressing, aimv1alpha1.AIMStatusPending,
	aimv1alpha1.AIMStatusDegraded, aimv1alpha1.AIMStatusNotAvailable, aimv1alpha1.AIMStatusFailed,
}

// cacheScope is the scope of a template as caches call it.
func cacheScope(t *template) aimv1alpha1.AIMServiceTemplateScope {
	return aimv1alpha1.AIMServiceTemplateScope(t.Scope)
}

// findCache finds the cache of a template: in a dedicated mode the one that the
// service controls; else the best shared one, the first by name among equals.
func findCache(service *aimv1alpha1.AIMService, t *template, caches []aimv1alpha1.AIMTemplateCache) *aimv1alpha1.AIMTemplateCache {
	dedicated := service.Spec.GetCachingMode() == aimv1alpha1.CachingModeDedicated
	var best *aimv1alpha1.AIMTemplateCache
	rank := func(c *aimv1alpha1.AIMTemplateCache) uint { return uint(slices.Index(statusLadder, c.Status.Status)) } // -1, unknown, is last
	for i := range caches {
		c := &caches[i]
		isDedicated := c.Spec.Mode == aimv1alpha1.TemplateCacheModeDedicated
		if isDedicated != dedicated || dedicated && !metav1.IsControlledBy(c, service) {
			continue
		}
		if c.Spec.TemplateName != t.Name || c.Spec.TemplateScope != cacheScope(t) && c.Spec.TemplateScope != aimv1alpha1.AIMServiceTemplateScopeUnknown {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(rank(c), rank(best)), cmp.Compare(c.Name, best.Name)) < 0 {
			best = c
		}
	}
	return best
}

// needsCache says whether there are weights to cache.
func (obs ServiceObservation) needsCache() bool {
	return obs.template != nil && len(obs.template.Status.ModelSources) > 0
}

// newCache builds the cache of the service's template.
func (obs ServiceObservation) newCache() (*aimv1alpha1.AIMTemplateCache, error) {
	service, t := obs.service, obs.template
	mode := service.Spec.GetCachingMode()
	namespace := service.Namespace
	if t.Namespace == "" {
		namespace = "" // a template of the cluster and one of the namespace may have one name
	}
	name, err := GenerateTemplateCacheName(t.Name, namespace, service.Name, string(service.UID), mode)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{managedByLabel: managedBy, serviceLabel: childLabels(service, nil, nil)[serviceLabel]}
	if mode == aimv1alpha1.CachingModeDedicated {
		labels = childLabels(service, obs.config, nil)
	}
	return &aimv1alpha1.AIMTemplateCache{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: service.Namespace, Labels: labels},
		Spec: aimv1alpha1.AIMTemplateCacheSpec{
			TemplateName: t.Name, TemplateScope: cacheScope(t), Mode: aimv1alpha1.AIMTemplateCacheMode(mode),
			Env:              runtimeconfig.MergeEnv(t.Spec.Env, t.cachingEnv, service.Spec.Env),
			StorageClassName: storageClassOf(service, obs.config), RuntimeConfigName: service.Spec.RuntimeConfigName,
			ImagePullSecrets: service.Spec.ImagePullSecrets,
		},
	}, nil
}

// cacheHealth tells how the cache is.
func (obs ServiceObservation) cacheHealth() health.Component {
	if !obs.needsCache() {
		return health.Component{}
	}
	c := health.Component{Name: "Cache", Dependency: health.Downstream, Child: true}
	if obs.cache == nil {
		c.State, c.Reason, c.Message = health.Progressing, "CacheCreating", "The cache is being made"
		if volumes, _ := claims(obs.isvc.Value); len(volumes) > 0 {
			c.State = health.Degraded
			if obs.service.Spec.GetCachingMode() == aimv1alpha1.CachingModeShared {
				c.Reason, c.Message = "CacheLost", "The cache in use is gone and is being made again"
			}
		}
		return c
	}
	status := obs.cache.Status.Status
	c.Message = fmt.Sprintf("Cache %s is %s", obs.cache.Name, cmp.Or(status, "without status"))
	switch status {
	case aimv1alpha1.AIMStatusReady:
		c.State, c.Reason = health.Ready, "CacheReady"
	case aimv1alpha1.AIMStatusProgressing:
		c.State, c.Reason = health.Progressing, "CacheNotReady"
	case aimv1alpha1.AIMStatusFailed:
		c.State, c.Reason = health.Failed, "CacheFailed"
	default:
		c.State, c.Reason = health.Progressing, "CacheCreating"
	}
	return c
}

// abandoned lists the caches to delete with a service: those made for it that are
// not ready and that no other service of the namespace uses.
func (f ServiceFetchResult) abandoned(service *aimv1alpha1.AIMService) []*aimv1alpha1.AIMTemplateCache {
	if f.caches.HasError() || f.neighbours.HasError() {
		return nil
	}
	label := childLabels(service, nil, nil)[serviceLabel]
	var out []*aimv1alpha1.AIMTemplateCache
	for i := range f.caches.Value.Items {
		c := &f.caches.Value.Items[i]
		if c.Labels[serviceLabel] == label && c.Status.Status != aimv1alpha1.AIMStatusReady && !usedByOthers(c, service, f.neighbours.Value.Items) {
			out = append(out, c)
		}
	}
	return out
}

func usedByOthers(c *aimv1alpha1.AIMTemplateCache, service *aimv1alpha1.AIMService, services []aimv1alpha1.AIMService) bool {
	if metav1.GetControllerOf(c) != nil {
		return !metav1.IsControlledBy(c, service)
	}
	return slices.ContainsFunc(services, func(other aimv1alpha1.AIMService) bool {
		if other.UID == service.UID || !other.DeletionTimestamp.IsZero() {
			return false
		}
		uses := other.Spec.Template.Name == c.Spec.TemplateName
		if t := other.Status.ResolvedTemplate; t != nil {
			uses = uses || t.Name == c.Spec.TemplateName
		}
		if cache := other.Status.Cache; cache != nil && cache.TemplateCacheRef != nil {
			uses = uses || cache.TemplateCacheRef.Name == c.Name
		}
		return uses
	})
}

// storageClassOf returns the storage class of a service's volumes: its own, else the
// runtime config's, else empty, which is that of the cluster.
func storageClassOf(service *aimv1alpha1.AIMService, config *aimv1alpha1.AIMRuntimeConfigCommon) string {
	layers := []*aimv1alpha1.AIMStorageConfig{service.Spec.Storage}
	if config != nil {
		layers = append(layers, config.Storage)
	}
	for _, layer := range layers {
		if layer != nil && layer.DefaultStorageClassName != nil {
			return *layer.DefaultStorageClassName
		}
	}
	return ""
}
