// Package subscription limits the tokens that users may spend on models.
package subscription

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

const (
	priorityIndex     = "spec.priority"
	priorityDuplicate = "SpecPriorityDuplicate"
)

// Reconciler of MaaSSubscription.
type Reconciler struct{}

// New declares the controller of MaaSSubscription. The limits themselves are
// made by the groups of NewLimits.
func New(groups controller.Grouped) *controller.Builder[*maasv1alpha1.MaaSSubscription, *world, *world] {
	policy := backend.Kind(backend.TokenRateLimitPolicy)
	return controller.New("maas-subscription", Reconciler{}).
		Joins(groups).
		Reads(&maasv1alpha1.MaaSModelRef{}).
		Reads(&gatewayv1.HTTPRoute{}).
		Reads(policy, controller.Optional).
		Reads(&maasv1alpha1.MaaSSubscription{}, controller.Index(priorityIndex, priorityOf)).
		Options(backend.Options("maas.opendatahub.io/subscription-cleanup"))
}

func priorityOf(object client.Object) []string {
	s, ok := object.(*maasv1alpha1.MaaSSubscription)
	if !ok || s.Spec == nil || !s.DeletionTimestamp.IsZero() {
		return nil
	}
	return []string{strconv.Itoa(int(s.Spec.Priority))}
}

// world is what is known of a subscription.
type world struct {
	subscription *maasv1alpha1.MaaSSubscription
	parts        []backend.Part
	peers        reconcile.FetchResult[*maasv1alpha1.MaaSSubscriptionList] // of the same priority, itself among them
}

// FetchRemoteState reads the models, their limits, and who has the same priority.
func (Reconciler) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*maasv1alpha1.MaaSSubscription],
) *world {
	s := rc.Object
	w := &world{subscription: s, parts: backend.FetchParts(ctx, r, s, modelsOf(s), LimitsName, backend.Limits)}
	if s.Spec != nil && s.DeletionTimestamp.IsZero() {
		same := client.MatchingFields{priorityIndex: strconv.Itoa(int(s.Spec.Priority))}
		w.peers = reconcile.FetchList(ctx, r, &maasv1alpha1.MaaSSubscriptionList{}, same)
	}
	return w
}

// PlanResources plans nothing: what the controller finds is in the status.
func (Reconciler) PlanResources(context.Context, reconcile.ReconcileContext[*maasv1alpha1.MaaSSubscription], *world) (reconcile.PlanResult, error) {
	return reconcile.PlanResult{}, nil
}

// Finalize lets the subscription go when no group counts it any more.
func (Reconciler) Finalize(_ context.Context, _ reconcile.ReconcileContext[*maasv1alpha1.MaaSSubscription], w *world) (reconcile.PlanResult, error) {
	return backend.Leave(w.subscription, w.parts), nil
}

// DecorateStatus reports how each model and its limits are.
func (Reconciler) DecorateStatus(status *maasv1alpha1.MaaSSubscriptionStatus, cm *conditions.Manager, w *world) {
	status.ModelRefStatuses, status.TokenRateLimitStatuses = nil, nil
	unavailable, refused, unaccepted := 0, "", 0
	for _, part := range w.parts {
		ref, limit := states(part)
		effect, why := part.Group.Value.Effect(w.subscription)
		if ref.Ready && (effect == controller.EffectFailed || effect == controller.EffectRefused && part.Policy.OK()) {
			limit.ResourceRefStatus = backend.Unready(limit.Name, limit.Namespace, maasv1alpha1.ReasonReconcileFailed, why)
			refused = why
		}
		status.ModelRefStatuses = append(status.ModelRefStatuses, ref)
		status.TokenRateLimitStatuses = append(status.TokenRateLimitStatuses, limit)
		switch {
		case !ref.Ready:
			unavailable++
		case !limit.Ready:
			unaccepted++
		}
	}
	verdict := judge(len(w.parts), unavailable, unaccepted, refused)
	if w.subscription.Spec == nil {
		verdict = backend.NoSpec()
	} else {
		w.announcePeers(cm)
	}
	status.Phase = verdict.Phase
	verdict.Announce(cm)
}

// judge is the first thing that is wrong. Limits that are refused fail the whole
// subscription: it would be chosen, and nothing would limit it.
func judge(all, unavailable, unaccepted int, refused string) backend.Verdict {
	switch {
	case unavailable == all:
		return backend.Of(maasv1alpha1.PhaseFailed, all, all, "model references are invalid or unavailable")
	case refused != "":
		return backend.Verdict{Phase: maasv1alpha1.PhaseFailed, Message: refused}
	case unavailable > 0:
		return backend.Of(maasv1alpha1.PhaseDegraded, unavailable, all, "model references are invalid or unavailable")
	case unaccepted > 0:
		return backend.Of(maasv1alpha1.PhaseDegraded, unaccepted, all, "TokenRateLimitPolicies not accepted")
	}
	return backend.Settled()
}

// states are those of the model and of its policy.
func states(part backend.Part) (maasv1alpha1.ResourceRefStatus, maasv1alpha1.TokenRateLimitStatus) {
	key := part.Key
	ref := maasv1alpha1.ResourceRefStatus{Name: key.Name, Namespace: key.Namespace, Ready: true, Reason: maasv1alpha1.ReasonValid}
	limit := maasv1alpha1.TokenRateLimitStatus{Model: key.Name}
	unavailable := func(reason maasv1alpha1.Reason, message string) {
		ref = backend.Unready(key.Name, key.Namespace, reason, message)
		limit.ResourceRefStatus = backend.Unready(backend.Limits.Key(key).Name, key.Namespace, maasv1alpha1.ReasonBackendNotReady, message)
	}
	switch {
	case part.Gone() != "":
		unavailable(maasv1alpha1.ReasonNotFound, part.Gone())
	case part.Ref.HasError():
		unavailable(maasv1alpha1.ReasonGetFailed, part.Ref.Error.Error())
	case !part.Served():
		unavailable(maasv1alpha1.ReasonNotFound, fmt.Sprintf("MaaSModelRef %s has no HTTPRoute yet", key))
	default:
		limit.ResourceRefStatus = backend.Limits.State(key, part.Policy)
	}
	return ref, limit
}

// announcePeers reports who has the same priority.
func (w *world) announcePeers(cm *conditions.Manager) {
	var names []string
	for i := range w.peers.Value.Items {
		if peer := &w.peers.Value.Items[i]; peer.UID != w.subscription.UID && peer.DeletionTimestamp.IsZero() {
			names = append(names, peer.Namespace+"/"+peer.Name)
		}
	}
	if len(names) == 0 {
		cm.MarkFalse(priorityDuplicate, "NoDuplicatePeers", "no other subscription has the same spec.priority")
		return
	}
	slices.Sort(names)
	cm.MarkTrue(priorityDuplicate, "SharedPriority", conditions.Bound(fmt.Sprintf(
		"spec.priority %d is shared with: %s", w.subscription.Spec.Priority, strings.Join(names, ", "))))
}
