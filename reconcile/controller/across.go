package controller

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/multicluster"
)

// Across returns a manager for controllers whose owners are in the cluster of mgr, and whose children and reads are all in another
// one. Owner is an object of the owners' kind. Both clusters have one scheme; somebody else starts the other one, such as mgr.Add.
//
// An owner reference does not reach another cluster, whose garbage collector would delete the child. So children are declared with
// [Builder.Writes] and planned with [apply.Shared]; [Builder.Owns] is an error. The engine finds them by what it records on the
// owner, prunes them, and deletes them before it lets the owner go. A child is made in the namespace that the plan names, or else in one with the name of the
// owner's, which must exist there.
//
// [Optional] kinds are not looked for and are an error. The readiness check asks the API server of the owners alone.
func Across(mgr manager.Manager, other cluster.Cluster, owner client.Object) (manager.Manager, error) {
	across, err := multicluster.New(mgr, other, owner)
	if err != nil {
		return nil, err
	}
	return across, nil
}
