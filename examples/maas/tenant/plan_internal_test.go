package tenant

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	corev1 "k8s.io/api/core/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
)

// TestPolicyOfPlan checks that a tenant's platform is removed only if the tenant is set to Removed.
func TestPolicyOfPlan(t *testing.T) {
	t.Parallel()
	for wish, want := range map[string]apply.Policy{removed: apply.Withdraw, unmanaged: apply.Suspend, "Mistyped": apply.Suspend} {
		obs := &observation{managementState: wish}
		plan, err := (&Reconciler{}).PlanResources(t.Context(), reconcile.ReconcileContext[*maasv1alpha1.Tenant]{}, obs)
		if err != nil || plan.Policy != want {
			t.Errorf("%s: got %v, %v, want %v", wish, plan.Policy, err, want)
		}
	}
}

// TestParams checks that fields the tenant leaves empty keep the values of the overlay.
func TestParams(t *testing.T) {
	t.Parallel()
	days := int32(30)
	for name, c := range map[string]struct {
		settings       settings
		days, audience string
	}{
		"nothing":    {},
		"everything": {settings{MaxDays: &days, Audience: "https://api"}, "30", "https://api"},
	} {
		got := c.settings.params()
		if got["api-key-max-expiration-days"] != c.days || got["cluster-audience"] != c.audience {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestDatabaseMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data    map[string][]byte
		missing bool
	}{
		"well":        {map[string][]byte{databaseKey: []byte("postgres://")}, false},
		"empty":       {nil, true},
		"other key":   {map[string][]byte{"url": []byte("postgres://")}, true},
		"empty value": {map[string][]byte{databaseKey: {}}, true},
	} {
		obs := &observation{}
		obs.database.Value = &corev1.Secret{Data: c.data}
		if got := obs.databaseMissing(); (got != "") != c.missing {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
