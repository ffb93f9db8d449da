package cluster

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// Withdraw deletes the definition of a kind and all of its objects, as the API server does.
func (w *Cluster) Withdraw(ctx context.Context, kind schema.GroupKind) error {
	for _, gvk := range w.Kinds() {
		if gvk.GroupKind() != kind {
			continue
		}
		items, err := w.List(gvk)
		if err != nil {
			return err
		}
		for _, key := range objects.SortedKeys(items) {
			u := items[key].DeepCopy()
			if len(u.GetFinalizers()) > 0 {
				u.SetFinalizers(nil)
				if err := w.Client.Update(ctx, u); err != nil {
					return fmt.Errorf("remove kind %s: %w", kind, err)
				}
			}
			if err := w.Client.Delete(ctx, u); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("remove kind %s: %w", kind, err)
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.withdrawn = kind
	return nil
}

// Restore restores the definition of the withdrawn kind.
func (w *Cluster) Restore() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.withdrawn = schema.GroupKind{}
}

// Served returns the error of a request about a kind that is not served, or nil.
func (w *Cluster) Served(kind schema.GroupKind, versions ...string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.withdrawn.Kind == "" || kind != w.withdrawn {
		return nil
	}
	return &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
}

// ServedMapper returns the RESTMapper of the operator, with the served kinds.
func (w *Cluster) ServedMapper() meta.RESTMapper { return servedMapper{w.Mapper, w} }

type servedMapper struct {
	meta.RESTMapper
	cluster *Cluster
}

// KindFor implements meta.RESTMapper.
func (m servedMapper) KindFor(resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	gvk, err := m.RESTMapper.KindFor(resource)
	if err == nil && m.cluster.Served(gvk.GroupKind()) != nil {
		return schema.GroupVersionKind{}, &meta.NoResourceMatchError{PartialResource: resource}
	}
	return gvk, err
}

// RESTMapping implements meta.RESTMapper.
func (m servedMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if err := m.cluster.Served(kind, versions...); err != nil {
		return nil, err
	}
	return m.RESTMapper.RESTMapping(kind, versions...)
}

// RESTMappings implements meta.RESTMapper.
func (m servedMapper) RESTMappings(kind schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	if err := m.cluster.Served(kind, versions...); err != nil {
		return nil, err
	}
	return m.RESTMapper.RESTMappings(kind, versions...)
}
