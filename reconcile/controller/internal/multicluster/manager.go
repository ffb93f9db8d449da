package multicluster

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// New returns a manager that uses the cluster of mgr for the kind of the owners and the other cluster for all other kinds. It returns
// an error if the scheme does not have the kind of the owner.
func New(mgr manager.Manager, other cluster.Cluster, owner client.Object) (*Manager, error) {
	gvk, err := apiutil.GVKForObject(owner, mgr.GetScheme())
	if err != nil {
		return nil, fmt.Errorf("controller across clusters: %w", err)
	}
	kinds := &splitter{scheme: mgr.GetScheme(), owner: gvk.GroupKind()}
	mapper := &splitMapper{splitter: kinds, RESTMapper: other.GetRESTMapper(), ownersIn: mgr.GetRESTMapper()}
	return &Manager{
		Manager: mgr,
		mapper:  mapper,
		cache:   &splitCache{split[cache.Cache]{splitter: kinds, others: other.GetCache(), ownersIn: mgr.GetCache()}},
		live:    &split[client.Reader]{splitter: kinds, others: other.GetAPIReader(), ownersIn: mgr.GetAPIReader()},
		client: &splitClient{
			split: split[client.Client]{splitter: kinds, others: other.GetClient(), ownersIn: mgr.GetClient()}, mapper: mapper,
		},
	}, nil
}

// Manager is the manager of the owners' cluster. Its clients and caches use the cluster of each kind.
type Manager struct {
	manager.Manager

	mapper meta.RESTMapper
	cache  cache.Cache
	live   client.Reader
	client client.Client
}

// GetClient returns a client of both clusters.
func (m *Manager) GetClient() client.Client { return m.client }

// GetCache returns the caches of both clusters.
func (m *Manager) GetCache() cache.Cache { return m.cache }

// GetFieldIndexer returns an indexer of both caches.
func (m *Manager) GetFieldIndexer() client.FieldIndexer { return m.cache }

// GetAPIReader returns a reader of both clusters.
func (m *Manager) GetAPIReader() client.Reader { return m.live }

// GetRESTMapper returns a mapper of both clusters.
func (m *Manager) GetRESTMapper() meta.RESTMapper { return m.mapper }

// Is reports whether the owners of the manager's controllers are in another cluster.
func Is(mgr manager.Manager) bool {
	_, across := mgr.(*Manager)
	return across
}

// Check rejects declarations that do not work if the owners are in another cluster.
func Check(mgr manager.Manager, kinds *declaration.Catalogue) error {
	if !Is(mgr) {
		return nil
	}
	var errs []error
	for _, k := range kinds.Kinds {
		if k.Has(declaration.PurposeOwns) {
			errs = append(errs, fmt.Errorf("controller %q: Owns of %s: the owners are in another cluster, which no owner reference reaches: "+
				"declare it with Writes and plan it with apply.Shared", kinds.Controller, declaration.Print(k.GroupVersionKind)))
		}
		if k.Optional {
			errs = append(errs, fmt.Errorf("controller %q: %s is Optional, which is not looked for in another cluster",
				kinds.Controller, declaration.Print(k.GroupVersionKind)))
		}
	}
	return errors.Join(errs...)
}
