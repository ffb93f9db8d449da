// Package subscription reconciles MaaSSubscription: it limits the tokens that users may spend on models.
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
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

const (
	priorityIndex     = "spec.priority"
	priorityDuplicate = "SpecPriorityDuplicate"
)

// Reconciler reconciles MaaSSubscription.
type Reconciler struct {
	models.Childless[*maasv1alpha1.MaaSSubscription, *observation]
}

// New declares the controller of MaaSSubscription. The groups of [NewLimits] plan the limits.
func New(groups *controller.Controller) *controller.Controller {
	return controller.New("maas-subscription", Reconciler{}).
		Joins(groups).
		Reads(&maasv1alpha1.MaaSModelRef{}).
		Reads(&gatewayv1.HTTPRoute{}).
		Reads(models.Kind(models.TokenRateLimitPolicy), controller.Optional).
		Reads(&maasv1alpha1.MaaSSubscription{}, controller.Index(priorityIndex, priorityOf)).
		Options(models.Options("maas.opendatahub.io/subscription-cleanup")).Build()
}

func priorityOf(object client.Object) []string {
	s, ok := object.(*maasv1alpha1.MaaSSubscription)
	if !ok || s.Spec == nil || !s.DeletionTimestamp.IsZero() {
		return nil
	}
	return []string{strconv.Itoa(int(s.Spec.Priority))}
}

// observation is the observed state of a subscription.
type observation struct {
	models.Parts
	subscription *maasv1alpha1.MaaSSubscription
	peers        reconcile.FetchResult[*maasv1alpha1.MaaSSubscriptionList] // subscriptions of the same priority, including this one
}

// FetchRemoteState reads the models, their limits, and the subscriptions of the same priority.
func (Reconciler) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*maasv1alpha1.MaaSSubscription],
) *observation {
	s := rc.Object
	obs := &observation{subscription: s, Parts: models.FetchParts(ctx, r, s, modelsOf(s), LimitsName, models.Limits)}
	if priority := priorityOf(s); priority != nil {
		same := client.MatchingFields{priorityIndex: priority[0]}
		obs.peers = reconcile.FetchList(ctx, r, &maasv1alpha1.MaaSSubscriptionList{}, same)
	}
	return obs
}

// DecorateStatus reports the state of each model and its limits. A refused limit fails the entire subscription; otherwise users
// could select it without any limit.
func (Reconciler) DecorateStatus(
	status *maasv1alpha1.MaaSSubscriptionStatus, cm *conditions.Manager,
	_ reconcile.StatusContext[*maasv1alpha1.MaaSSubscription], obs *observation,
) {
	const missing = "invalid or unavailable"
	status.ModelRefStatuses, status.TokenRateLimitStatuses = nil, nil
	tally := models.Tally{
		All: len(obs.List), AllMissing: missing, SomeMissing: missing, SomeUnready: "TokenRateLimitPolicies not accepted",
	}
	for _, part := range obs.List {
		ref, limit := states(part)
		effect, why := part.Group.Value.Effect(obs.subscription)
		if ref.Ready && (effect == controller.EffectFailed || effect == controller.EffectRefused && part.Policy.OK()) {
			limit = models.Unready(models.Limits.Key(part.Key), maasv1alpha1.ReasonReconcileFailed, why)
			tally.Failed = why
		}
		status.ModelRefStatuses = append(status.ModelRefStatuses, ref)
		status.TokenRateLimitStatuses = append(status.TokenRateLimitStatuses,
			maasv1alpha1.TokenRateLimitStatus{Model: part.Key.Name, ResourceRefStatus: limit})
		switch {
		case !ref.Ready:
			tally.Missing++
		case !limit.Ready:
			tally.Unready++
		}
	}
	status.Phase = tally.Announce(cm)
	if obs.subscription.Spec != nil {
		obs.announcePeers(cm)
	}
}

// states returns the states of the model and of its policy.
func states(part models.Part) (ref, limit maasv1alpha1.ResourceRefStatus) {
	reason, message := maasv1alpha1.ReasonNotFound, part.Gone()
	switch {
	case message != "":
	case part.Ref.HasError():
		reason, message = maasv1alpha1.ReasonGetFailed, part.Ref.Error.Error()
	case !part.Served():
		message = fmt.Sprintf("MaaSModelRef %s has no HTTPRoute yet", part.Key)
	default:
		ref = maasv1alpha1.ResourceRefStatus{Name: part.Key.Name, Namespace: part.Key.Namespace, Ready: true, Reason: maasv1alpha1.ReasonValid}
		return ref, models.Limits.State(part.Key, part.Policy)
	}
	return models.Unready(part.Key, reason, message),
		models.Unready(models.Limits.Key(part.Key), maasv1alpha1.ReasonBackendNotReady, message)
}

// announcePeers reports the subscriptions of the same priority.
func (obs *observation) announcePeers(cm *conditions.Manager) {
	var names []string
	for i := range obs.peers.Value.Items {
		if peer := &obs.peers.Value.Items[i]; peer.UID != obs.subscription.UID && peer.DeletionTimestamp.IsZero() {
			names = append(names, peer.Namespace+"/"+peer.Name)
		}
	}
	if len(names) == 0 {
		cm.MarkFalse(priorityDuplicate, "NoDuplicatePeers", "no other subscription has the same spec.priority")
		return
	}
	slices.Sort(names)
	cm.MarkTrue(priorityDuplicate, "SharedPriority", conditions.Bound(fmt.Sprintf(
		"spec.priority %d is shared with: %s", obs.subscription.Spec.Priority, strings.Join(names, ", "))))
}
