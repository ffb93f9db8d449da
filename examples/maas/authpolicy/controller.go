// Package authpolicy reconciles MaaSAuthPolicy: it gives users access to models.
package authpolicy

import (
	"context"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// Reconciler reconciles MaaSAuthPolicy.
type Reconciler struct {
	models.Childless[*maasv1alpha1.MaaSAuthPolicy, models.Parts]
}

// New declares the controller of MaaSAuthPolicy. The groups of [NewAccess] plan the AuthPolicies.
func New(groups *controller.Controller) *controller.Controller {
	return controller.New("maas-auth-policy", Reconciler{}).
		Joins(groups).
		Reads(&maasv1alpha1.MaaSModelRef{}).
		Reads(&gatewayv1.HTTPRoute{}).
		Reads(models.Kind(models.AuthPolicy), controller.Optional).
		Options(models.Options("maas.opendatahub.io/authpolicy-cleanup")).Build()
}

// FetchRemoteState reads the models and the access to them.
func (Reconciler) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*maasv1alpha1.MaaSAuthPolicy],
) models.Parts {
	return models.FetchParts(ctx, r, rc.Object, modelsOf(rc.Object), AccessName, models.Access)
}

// DecorateStatus reports the state of each generated policy.
func (Reconciler) DecorateStatus(
	status *maasv1alpha1.MaaSAuthPolicyStatus, cm *conditions.Manager, _ reconcile.StatusContext[*maasv1alpha1.MaaSAuthPolicy],
	parts models.Parts,
) {
	status.AuthPolicies = nil
	tally := models.Tally{
		All: len(parts.List), AllMissing: "invalid or missing", SomeMissing: "missing", SomeUnready: "AuthPolicies not accepted/enforced",
	}
	for _, part := range parts.List {
		if part.Ref.HasError() || part.Gone() != "" {
			tally.Missing++
			continue
		}
		state := models.Access.State(part.Key, part.Policy)
		effect, why := part.Group.Value.Effect(parts.Member)
		if effect == controller.EffectRefused || (effect == controller.EffectFailed && part.Served()) {
			state = models.Unready(models.Access.Key(part.Key), maasv1alpha1.ReasonReconcileFailed, why)
			tally.Failed = why
		}
		if !state.Ready {
			tally.Unready++
		}
		status.AuthPolicies = append(status.AuthPolicies, maasv1alpha1.AuthPolicyRefStatus{
			Model: part.Key.Name, ModelNamespace: part.Key.Namespace, ResourceRefStatus: state,
		})
	}
	status.Phase = tally.Announce(cm)
}
