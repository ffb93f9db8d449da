package main

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// TestWritesFromEmpty checks the number of writes: each child once, the status of a registry twice (progressing,
// available), and its inventory once. A catalog has neither a status nor an inventory.
func TestWritesFromEmpty(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		system reconciletest.System
		want   []string
	}{
		"registry": {registrySystem(t, external(), withoutProxy), []string{
			"apply apps/deployments default/r",
			"apply configmaps default/r-kube-rbac-proxy-config",
			"apply modelregistry.opendatahub.io/modelregistries/status default/r",
			"apply networking.k8s.io/networkpolicies default/r-https-route",
			"apply rbac.authorization.k8s.io/clusterrolebindings r-auth-delegator",
			"apply rbac.authorization.k8s.io/rolebindings default/r-users",
			"apply rbac.authorization.k8s.io/roles default/registry-user-r",
			"apply route.openshift.io/routes default/r-https",
			"apply serviceaccounts default/r",
			"apply services default/r",
			"apply user.openshift.io/groups r-users",
			"patch modelregistry.opendatahub.io/modelregistries default/r",
			"patch modelregistry.opendatahub.io/modelregistries/status default/r",
		}},
		"catalog": {catalogSystem(t, nil), []string{
			"apply apps/deployments default/model-catalog",
			"apply apps/deployments default/model-catalog-postgres",
			"apply configmaps default/default-catalog-sources",
			"apply configmaps default/mcp-catalog-sources",
			"apply configmaps default/model-catalog-kube-rbac-proxy-config",
			"apply configmaps default/model-catalog-sources",
			"apply networking.k8s.io/networkpolicies default/model-catalog-https-route",
			"apply networking.k8s.io/networkpolicies default/model-catalog-postgres",
			"apply persistentvolumeclaims default/model-catalog-postgres",
			"apply rbac.authorization.k8s.io/clusterrolebindings model-catalog-auth-delegator",
			"apply rbac.authorization.k8s.io/rolebindings default/model-catalog-authenticated",
			"apply rbac.authorization.k8s.io/roles default/model-catalog",
			"apply rbac.authorization.k8s.io/roles default/model-catalog-admin",
			"apply route.openshift.io/routes default/model-catalog-https",
			"apply secrets default/model-catalog-postgres",
			"apply serviceaccounts default/model-catalog",
			"apply services default/model-catalog",
			"apply services default/model-catalog-postgres",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.system.StandIns = append(test.system.StandIns, reconciletest.DeploymentsAvailable)
			reconciletest.Scenario{System: test.system, Writes: test.want}.Run(t)
		})
	}
}

// TestAllocationsInSteadyState limits the allocations of a reconciliation without changes, and checks that it sends no
// request. Templates are not rendered again; most allocations convert cached children to unstructured objects for the
// comparison. The test is not parallel, because allocations of other tests would count.
func TestAllocationsInSteadyState(t *testing.T) {
	generated := v1beta1.ModelRegistrySpec{Postgres: &v1beta1.PostgresConfig{GenerateDeployment: new(true)}}
	reconciletest.Steady(t, registrySystem(t, external(), withoutProxy), reconciletest.Budget{Allocations: 4000})
	reconciletest.Steady(t, registrySystem(t, generated, withoutProxy), reconciletest.Budget{Allocations: 4400})
	reconciletest.Steady(t, catalogSystem(t, nil), reconciletest.Budget{Allocations: 7000})
}
