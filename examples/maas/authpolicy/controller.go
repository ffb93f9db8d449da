// Package authpolicy gives users access to models.
package authpolicy

import (
	"context"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

// Reconciler of MaaSAuthPolicy.
type Reconciler struct{}

// New declares the controller of MaaSAuthPolicy. The access itself is made by
// the groups of NewAccess.
func New(groups controller.Grouped) *controller.Builder[*maasv1alpha1.MaaSAuthPolicy, *world, *world] {
	policy := backend.Kind(backend.AuthPolicy)
	return controller.New("maas-auth-policy", Reconciler{}).
		Joins(groups).
		Reads(&maasv1alpha1.MaaSModelRef{}).
		Reads(&gatewayv1.HTTPRoute{}).
		Reads(policy, controller.Optional).
		Options(backend.Options("maas.opendatahub.io/authpolicy-cleanup"))
}

// world is what is known of an auth policy.
type world struct {
	policy *maasv1alpha1.MaaSAuthPolicy
	parts  []backend.Part
}

// FetchRemoteState reads the models and the access to them.
func (Reconciler) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*maasv1alpha1.MaaSAuthPolicy],
) *world {
	return &world{policy: rc.Object, parts: backend.FetchParts(ctx, r, rc.Object, modelsOf(rc.Object), AccessName, backend.Access)}
}

// PlanResources plans nothing: what the controller finds is in the status.
func (Reconciler) PlanResources(context.Context, reconcile.ReconcileContext[*maasv1alpha1.MaaSAuthPolicy], *world) (reconcile.PlanResult, error) {
	return reconcile.PlanResult{}, nil
}

// Finalize lets the auth policy go when no group counts it any more.
func (Reconciler) Finalize(_ context.Context, _ reconcile.ReconcileContext[*maasv1alpha1.MaaSAuthPolicy], w *world) (reconcile.PlanResult, error) {
	return backend.Leave(w.policy, w.parts), nil
}

// DecorateStatus reports how each generated policy is.
func (Reconciler) DecorateStatus(status *maasv1alpha1.MaaSAuthPolicyStatus, cm *conditions.Manager, w *world) {
	status.AuthPolicies = nil
	missing, unready, failed := 0, 0, ""
	for _, part := range w.parts {
		if part.Ref.HasError() || part.Gone() != "" {
			missing++
			continue
		}
		item := maasv1alpha1.AuthPolicyRefStatus{Model: part.Key.Name, ModelNamespace: part.Key.Namespace, ResourceRefStatus: backend.Access.State(part.Key, part.Policy)}
		effect, why := part.Group.Value.Effect(w.policy)
		if effect == controller.EffectRefused || (effect == controller.EffectFailed && part.Served()) {
			item.ResourceRefStatus = backend.Unready(item.Name, item.Namespace, maasv1alpha1.ReasonReconcileFailed, why)
			failed = why
		}
		if !item.Ready {
			unready++
		}
		status.AuthPolicies = append(status.AuthPolicies, item)
	}
	verdict := judge(len(w.parts), missing, unready, failed)
	if w.policy.Spec == nil {
		verdict = backend.NoSpec()
	}
	status.Phase = verdict.Phase
	verdict.Announce(cm)
}

// judge is the first thing that is wrong.
func judge(all, missing, unready int, failed string) backend.Verdict {
	switch {
	case missing == all:
		return backend.Of(maasv1alpha1.PhaseFailed, all, all, "model references are invalid or missing")
	case failed != "":
		return backend.Verdict{Phase: maasv1alpha1.PhaseFailed, Message: failed}
	case missing > 0:
		return backend.Of(maasv1alpha1.PhaseDegraded, missing, all, "model references are missing")
	case unready > 0:
		return backend.Of(maasv1alpha1.PhaseDegraded, unready, all, "AuthPolicies not accepted/enforced")
	}
	return backend.Settled()
}
