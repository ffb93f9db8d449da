package controller

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

// Across returns a manager for controllers whose owners are in the cluster of mgr, and whose children and reads are all in another
// one. Owner is an object of the owners' kind. Both clusters have one scheme; somebody else starts the other one, such as mgr.Add.
//
// An owner reference does not reach another cluster, whose garbage collector would delete the child. So children are declared with
// [Builder.Writes] and planned with ApplyWithoutOwnerRef; [Builder.Owns] is an error. The engine finds them by what it records on the
// owner, prunes them, and deletes them before it lets the owner go. A child is made in the namespace that the plan names, or else in one with the name of the
// owner's, which must exist there.
//
// [Optional] kinds are not looked for and are an error. The readiness check asks the API server of the owners alone.
func Across(mgr manager.Manager, other cluster.Cluster, owner client.Object) (manager.Manager, error) {
	gvk, err := apiutil.GVKForObject(owner, mgr.GetScheme())
	if err != nil {
		return nil, fmt.Errorf("controller across clusters: %w", err)
	}
	kinds := &splitter{scheme: mgr.GetScheme(), owner: gvk.GroupKind()}
	mapper := &splitMapper{splitter: kinds, RESTMapper: other.GetRESTMapper(), ownersIn: mgr.GetRESTMapper()}
	return &acrossManager{
		Manager: mgr,
		mapper:  mapper,
		cache:   &splitCache{split[cache.Cache]{splitter: kinds, others: other.GetCache(), ownersIn: mgr.GetCache()}},
		live:    &split[client.Reader]{splitter: kinds, others: other.GetAPIReader(), ownersIn: mgr.GetAPIReader()},
		client: &splitClient{
			split: split[client.Client]{splitter: kinds, others: other.GetClient(), ownersIn: mgr.GetClient()}, mapper: mapper,
		},
	}, nil
}

// acrossManager is a manager that reaches the cluster that a kind is in.
type acrossManager struct {
	manager.Manager

	mapper meta.RESTMapper
	cache  cache.Cache
	live   client.Reader
	client client.Client
}

// GetClient returns a client of both clusters.
func (m *acrossManager) GetClient() client.Client { return m.client }

// GetCache returns the caches of both clusters.
func (m *acrossManager) GetCache() cache.Cache { return m.cache }

// GetFieldIndexer returns the caches of both clusters.
func (m *acrossManager) GetFieldIndexer() client.FieldIndexer { return m.cache }

// GetAPIReader returns a reader of both clusters.
func (m *acrossManager) GetAPIReader() client.Reader { return m.live }

// GetRESTMapper returns a mapper of both clusters.
func (m *acrossManager) GetRESTMapper() meta.RESTMapper { return m.mapper }

// checkAcross refuses declarations that do not work where the owners are in another cluster.
func checkAcross(mgr manager.Manager, kinds *declaration.Catalogue) error {
	if _, across := mgr.(*acrossManager); !across {
		return nil
	}
	var errs []error
	for _, k := range kinds.Kinds {
		if k.Has(declaration.PurposeOwns) {
			errs = append(errs, fmt.Errorf("controller %q: Owns of %s: the owners are in another cluster, which no owner reference reaches: "+
				"declare it with Writes and plan it with ApplyWithoutOwnerRef", kinds.Controller, declaration.Print(k.GroupVersionKind)))
		}
		if k.Optional {
			errs = append(errs, fmt.Errorf("controller %q: %s is Optional, which is not looked for in another cluster",
				kinds.Controller, declaration.Print(k.GroupVersionKind)))
		}
	}
	return errors.Join(errs...)
}
