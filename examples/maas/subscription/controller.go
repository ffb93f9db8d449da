// Package subscription limits the tokens that users may spend on models.
package subscription

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

const (
	priorityIndex     = "spec.priority"
	priorityDuplicate = "SpecPriorityDuplicate"
	// look is how soon a subscription that is being deleted looks again whether
	// its limits are withdrawn, although the groups wake it.
	look = 5 * time.Second
)

// Reconciler of MaaSSubscription.
type Reconciler struct{}

// New declares the controller of MaaSSubscription. The limits themselves are
// made by the groups of NewLimits.
func New(groups controller.Grouped) *controller.Builder[*maasv1alpha1.MaaSSubscription, *world, *world] {
	status := func(s *maasv1alpha1.MaaSSubscription) *maasv1alpha1.MaaSSubscriptionStatus { return &s.Status }
	policy := backend.Kind(backend.TokenRateLimitPolicy)
	return controller.New("maas-subscription", Reconciler{}).
		Joins(groups).
		Reads(&maasv1alpha1.MaaSModelRef{}, &gatewayv1.HTTPRoute{}, policy).
		Optional(policy).
		IndexField(&maasv1alpha1.MaaSSubscription{}, priorityIndex, priorityOf).
		Status(controller.Decorate(status, Reconciler{})).
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
	models       []model
	peers        reconcile.FetchResult[*maasv1alpha1.MaaSSubscriptionList] // of the same priority, itself among them
}

// model is one model of the subscription.
type model struct {
	backend.Model
	limits reconcile.FetchResult[*controller.Group]
	policy reconcile.FetchResult[*unstructured.Unstructured]
}

// GetComponentHealth has nothing to say: the status says it in the product's words.
func (*world) GetComponentHealth(context.Context) []health.Component { return nil }

// FetchRemoteState reads the models, their limits, and who has the same priority.
func (Reconciler) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*maasv1alpha1.MaaSSubscription],
) *world {
	w := &world{subscription: rc.Object}
	leaving := !w.subscription.DeletionTimestamp.IsZero()
	for _, key := range modelsOf(w.subscription) {
		m := model{limits: reconcile.Fetch(ctx, r, key, controller.GroupOf(LimitsName))}
		if !leaving {
			m.Model = backend.FetchModel(ctx, r, key)
			m.policy = reconcile.Fetch(ctx, r, policyKey(key), backend.Kind(backend.TokenRateLimitPolicy))
		}
		w.models = append(w.models, m)
	}
	if w.subscription.Spec != nil && !leaving {
		same := client.MatchingFields{priorityIndex: strconv.Itoa(int(w.subscription.Spec.Priority))}
		w.peers = reconcile.FetchList(ctx, r, &maasv1alpha1.MaaSSubscriptionList{}, same)
	}
	return w
}

// ComposeState leaves the world as it is.
func (Reconciler) ComposeState(_ context.Context, _ reconcile.ReconcileContext[*maasv1alpha1.MaaSSubscription], w *world) *world {
	return w
}

// PlanResources plans nothing: the policies belong to the groups.
func (Reconciler) PlanResources(context.Context, reconcile.ReconcileContext[*maasv1alpha1.MaaSSubscription], *world) reconcile.PlanResult {
	return reconcile.PlanResult{}
}

// Finalize lets the subscription go when no group counts it any more.
func (Reconciler) Finalize(_ context.Context, _ reconcile.ReconcileContext[*maasv1alpha1.MaaSSubscription], w *world) reconcile.PlanResult {
	var plan reconcile.PlanResult
	for _, m := range w.models {
		if m.limits.OK() {
			if effect, _ := m.limits.Value.Effect(w.subscription); effect != controller.EffectNone {
				plan.RequeueAfter = look
			}
		}
	}
	return plan
}

// DecorateStatus says how each model and its limits are.
func (Reconciler) DecorateStatus(status *maasv1alpha1.MaaSSubscriptionStatus, cm *conditions.Manager, w *world) {
	if !w.subscription.DeletionTimestamp.IsZero() {
		return
	}
	if w.subscription.Spec == nil {
		status.Phase = maasv1alpha1.PhaseFailed
		backend.Verdict{Phase: status.Phase, Message: "spec is required"}.Announce(cm)
		return
	}
	status.ModelRefStatuses, status.TokenRateLimitStatuses = nil, nil
	unavailable, refused, unaccepted := 0, "", 0
	for _, m := range w.models {
		ref, limit := m.states()
		effect, why := m.limits.Value.Effect(w.subscription)
		if ref.Ready && (effect == controller.EffectFailed || effect == controller.EffectRefused && m.policy.OK()) {
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
	verdict := judge(len(w.models), unavailable, unaccepted, refused)
	status.Phase = verdict.Phase
	verdict.Announce(cm)
	w.announcePeers(cm)
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
func (m *model) states() (maasv1alpha1.ResourceRefStatus, maasv1alpha1.TokenRateLimitStatus) {
	ref := maasv1alpha1.ResourceRefStatus{Name: m.Key.Name, Namespace: m.Key.Namespace, Ready: true, Reason: maasv1alpha1.ReasonValid}
	name := policyKey(m.Key).Name
	limit := maasv1alpha1.TokenRateLimitStatus{Model: m.Key.Name}
	unready := func(reason maasv1alpha1.Reason, message string) {
		limit.ResourceRefStatus = backend.Unready(name, m.Key.Namespace, reason, message)
	}
	switch {
	case m.Gone() != "":
		ref = backend.Unready(m.Key.Name, m.Key.Namespace, maasv1alpha1.ReasonNotFound, m.Gone())
		unready(maasv1alpha1.ReasonBackendNotReady, m.Gone())
	case m.Ref.HasError():
		ref = backend.Unready(m.Key.Name, m.Key.Namespace, maasv1alpha1.ReasonGetFailed, m.Ref.Error.Error())
		unready(maasv1alpha1.ReasonBackendNotReady, m.Ref.Error.Error())
	case !m.Served():
		message := fmt.Sprintf("MaaSModelRef %s has no HTTPRoute yet", m.Key)
		ref = backend.Unready(m.Key.Name, m.Key.Namespace, maasv1alpha1.ReasonNotFound, message)
		unready(maasv1alpha1.ReasonBackendNotReady, message)
	case m.policy.IsNotFound():
		unready(maasv1alpha1.ReasonNotFound, "TokenRateLimitPolicy not created yet")
	case m.policy.HasError():
		unready(maasv1alpha1.ReasonGetFailed, m.policy.Error.Error())
	default:
		list := backend.Conditions(m.policy.Value)
		switch accepted := meta.FindStatusCondition(list, "Accepted"); {
		case accepted == nil && len(list) == 0:
			unready(maasv1alpha1.ReasonNotAccepted, "status not available")
		case accepted == nil:
			unready(maasv1alpha1.ReasonNotAccepted, "Accepted condition not found")
		case accepted.Status != metav1.ConditionTrue:
			unready(maasv1alpha1.ReasonNotAccepted, accepted.Message)
		default:
			unready(maasv1alpha1.ReasonAccepted, accepted.Message)
			limit.Ready = true
		}
	}
	return ref, limit
}

// announcePeers says who has the same priority.
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
