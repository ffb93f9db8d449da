package controller

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/multicluster"
)

// Across returns a manager for controllers whose owners are in the cluster of mgr, and whose children and other reads are
// in another cluster. Owner is an object of the owners' kind. Both clusters must have the same scheme. The caller starts
// the other cluster, for example with mgr.Add.
//
// An owner reference must not point to another cluster: the garbage collector there would delete the child. Declare
// children with [Builder.Writes] and plan them with [apply.Shared]; [Builder.Owns] is an error. The engine records the
// children on the owner, prunes them, and deletes them before it removes the owner's finalizer. It creates a child in the
// planned namespace or, without one, in the namespace with the name of the owner's. The namespace must exist in the other
// cluster.
//
// [Optional] kinds are an error. The readiness check only queries the API server of the owners.
func Across(mgr manager.Manager, other cluster.Cluster, owner client.Object) (manager.Manager, error) {
	across, err := multicluster.New(mgr, other, owner)
	if err != nil {
		return nil, err
	}
	return across, nil
}
