// Package authpolicy gives users access to models.
package authpolicy

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// look is how soon an auth policy that is being deleted looks again whether its
// access is withdrawn, although the groups wake it.
const look = 5 * time.Second

// Reconciler of MaaSAuthPolicy.
type Reconciler struct{}

// New declares the controller of MaaSAuthPolicy. The access itself is made by
// the groups of NewAccess.
func New(groups controller.Grouped) *controller.Builder[*maasv1alpha1.MaaSAuthPolicy, *world, *world] {
	status := func(p *maasv1alpha1.MaaSAuthPolicy) *maasv1alpha1.MaaSAuthPolicyStatus { return &p.Status }
	policy := backend.Kind(backend.AuthPolicy)
	return controller.New("maas-auth-policy", Reconciler{}).
		Joins(groups).
		Reads(&maasv1alpha1.MaaSModelRef{}, &gatewayv1.HTTPRoute{}, policy).
		Optional(policy).
		Status(controller.Decorate(status, Reconciler{})).
		Options(backend.Options("maas.opendatahub.io/authpolicy-cleanup"))
}

// world is what is known of an auth policy.
type world struct {
	policy *maasv1alpha1.MaaSAuthPolicy
	models []model
}

// model is one model of the auth policy.
type model struct {
	backend.Model
	access    reconcile.FetchResult[*controller.Group]
	generated reconcile.FetchResult[*unstructured.Unstructured]
}

// GetComponentHealth has nothing to say: the status says it in the product's words.
func (*world) GetComponentHealth(context.Context) []health.Component { return nil }

// FetchRemoteState reads the models and the access to them.
func (Reconciler) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*maasv1alpha1.MaaSAuthPolicy],
) *world {
	w := &world{policy: rc.Object}
	for _, key := range modelsOf(w.policy) {
		m := model{access: reconcile.Fetch(ctx, r, key, controller.GroupOf(AccessName))}
		if w.policy.DeletionTimestamp.IsZero() {
			m.Model = backend.FetchModel(ctx, r, key)
			m.generated = reconcile.Fetch(ctx, r, policyKey(key), backend.Kind(backend.AuthPolicy))
		}
		w.models = append(w.models, m)
	}
	return w
}

// ComposeState leaves the world as it is.
func (Reconciler) ComposeState(_ context.Context, _ reconcile.ReconcileContext[*maasv1alpha1.MaaSAuthPolicy], w *world) *world {
	return w
}

// PlanResources plans nothing: the policies belong to the groups.
func (Reconciler) PlanResources(context.Context, reconcile.ReconcileContext[*maasv1alpha1.MaaSAuthPolicy], *world) reconcile.PlanResult {
	return reconcile.PlanResult{}
}

// Finalize lets the auth policy go when no group counts it any more.
func (Reconciler) Finalize(_ context.Context, _ reconcile.ReconcileContext[*maasv1alpha1.MaaSAuthPolicy], w *world) reconcile.PlanResult {
	var plan reconcile.PlanResult
	for _, m := range w.models {
		if m.access.OK() {
			if effect, _ := m.access.Value.Effect(w.policy); effect != controller.EffectNone {
				plan.RequeueAfter = look
			}
		}
	}
	return plan
}

// DecorateStatus says how each generated policy is.
func (Reconciler) DecorateStatus(status *maasv1alpha1.MaaSAuthPolicyStatus, cm *conditions.Manager, w *world) {
	if !w.policy.DeletionTimestamp.IsZero() {
		return
	}
	if w.policy.Spec == nil {
		status.Phase = maasv1alpha1.PhaseFailed
		backend.Verdict{Phase: status.Phase, Message: "spec is required"}.Announce(cm)
		return
	}
	status.AuthPolicies = nil
	missing, unready, failed := 0, 0, ""
	for _, m := range w.models {
		if m.Ref.HasError() || m.Gone() != "" {
			missing++
			continue
		}
		item := maasv1alpha1.AuthPolicyRefStatus{Model: m.Key.Name, ModelNamespace: m.Key.Namespace}
		item.ResourceRefStatus = m.state()
		effect, why := m.access.Value.Effect(w.policy)
		if effect == controller.EffectRefused || (effect == controller.EffectFailed && m.Served()) {
			item.ResourceRefStatus = backend.Unready(item.Name, item.Namespace, maasv1alpha1.ReasonReconcileFailed, why)
			failed = why
		}
		if !item.Ready {
			unready++
		}
		status.AuthPolicies = append(status.AuthPolicies, item)
	}
	verdict := judge(len(w.models), missing, unready, failed)
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

// state is that of the generated policy, which has to be accepted and enforced.
func (m *model) state() maasv1alpha1.ResourceRefStatus {
	key := policyKey(m.Key)
	unready := func(reason maasv1alpha1.Reason, message string) maasv1alpha1.ResourceRefStatus {
		return backend.Unready(key.Name, key.Namespace, reason, message)
	}
	list := backend.Conditions(m.generated.Value)
	switch {
	case m.generated.IsNotFound():
		return unready(maasv1alpha1.ReasonNotFound, "AuthPolicy not created yet")
	case m.generated.HasError():
		return unready(maasv1alpha1.ReasonGetFailed, m.generated.Error.Error())
	case len(list) == 0:
		return unready(maasv1alpha1.ReasonConditionsNotFound, "status conditions not available")
	case !meta.IsStatusConditionTrue(list, "Accepted"):
		return unready(maasv1alpha1.ReasonNotAccepted, message(list, "Accepted"))
	case !meta.IsStatusConditionTrue(list, "Enforced"):
		return unready(maasv1alpha1.ReasonNotEnforced, message(list, "Enforced"))
	}
	ready := unready(maasv1alpha1.ReasonAcceptedEnforced, "")
	ready.Ready = true
	return ready
}

func message(list []metav1.Condition, conditionType string) string {
	if c := meta.FindStatusCondition(list, conditionType); c != nil {
		return c.Message
	}
	return conditionType + " condition not found"
}
