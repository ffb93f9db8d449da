package subscription

import (
	"context"
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

// LimitsName is the name of the controller of [NewLimits].
const LimitsName = "maas-token-limits"

const (
	maxLimit  = 1_000_000_000
	maxWindow = 366 * 24 * time.Hour
)

// Limits reconciles the limits of one model: all subscriptions to it make one
// TokenRateLimitPolicy.
type Limits struct{}

// NewLimits declares the controller of the limits. Its groups are models.
func NewLimits() *controller.Builder[*controller.Group, *limits, *limits] {
	policy := backend.Kind(backend.TokenRateLimitPolicy)
	return controller.NewGroup(LimitsName, Limits{}).
		Members(&maasv1alpha1.MaaSSubscription{}, modelsOf).
		Owns(policy, controller.Optional).
		Reads(&maasv1alpha1.MaaSModelRef{}).
		Reads(&gatewayv1.HTTPRoute{}).
		Options(backend.Options(""))
}

// modelsOf lists the models of a subscription, each once.
func modelsOf(object client.Object) []types.NamespacedName {
	if subscription, ok := object.(*maasv1alpha1.MaaSSubscription); ok && subscription.Spec != nil {
		return backend.Keys(subscription.Spec.ModelRefs)
	}
	return nil
}

type limits = backend.Shared[*maasv1alpha1.MaaSSubscription]

// FetchRemoteState reads the model, its route and its subscriptions.
func (Limits) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*controller.Group]) *limits {
	model := client.ObjectKeyFromObject(rc.Object)
	l := backend.FetchShared(ctx, r, rc.Object, &maasv1alpha1.MaaSSubscriptionList{},
		func(s *maasv1alpha1.MaaSSubscription) error { return valid(s, model) })
	return &l
}

// PlanResources plans the policy, controlled by the route that it limits; none
// when no subscription has valid limits.
func (Limits) PlanResources(_ context.Context, _ reconcile.ReconcileContext[*controller.Group], l *limits) (reconcile.PlanResult, error) {
	var plan reconcile.PlanResult
	if !l.Served() || len(l.Valid) == 0 {
		return plan, nil
	}
	entries := map[string]any{}
	var names []string
	for _, s := range l.Valid {
		entries[limitName(s, l.Key)] = entry(s, l.Key)
		names = append(names, s.Name)
	}
	policy := backend.Limits.For(l.Model, names, map[string]any{"limits": entries})
	policy.SetLabels(labels.Merge(policy.GetLabels(), labels.Set{backend.ModelNamespaceLabel: l.Key.Namespace}))
	policy.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(l.Route.Value, gatewayv1.SchemeGroupVersion.WithKind("HTTPRoute"))})
	plan.Apply(policy)
	return plan, nil
}

func limitName(s *maasv1alpha1.MaaSSubscription, model types.NamespacedName) string {
	return s.Namespace + "-" + s.Name + "-" + model.Name + "-tokens"
}

// entry limits the tokens of one subscription for each user.
func entry(s *maasv1alpha1.MaaSSubscription, model types.NamespacedName) map[string]any {
	var rates []any
	for _, rate := range refOf(s, model).TokenRateLimits {
		rates = append(rates, map[string]any{"limit": rate.Limit, "window": rate.Window})
	}
	predicate := fmt.Sprintf(`auth.identity.selected_subscription_key == "%s/%s@%s/%s" && !request.path.endsWith("/v1/models")`,
		s.Namespace, s.Name, model.Namespace, model.Name)
	return map[string]any{
		"rates":    rates,
		"when":     []any{map[string]any{"predicate": predicate}},
		"counters": []any{map[string]any{"expression": "auth.identity.userid"}},
	}
}

// refOf is the first entry of the subscription for the model.
func refOf(s *maasv1alpha1.MaaSSubscription, model types.NamespacedName) *maasv1alpha1.ModelSubscriptionRef {
	for i := range s.Spec.ModelRefs {
		if ref := &s.Spec.ModelRefs[i]; ref.Key() == model {
			return ref
		}
	}
	return &maasv1alpha1.ModelSubscriptionRef{}
}

// valid reports what is wrong with the limits of a subscription for a model, which
// the API server's validation does not see.
func valid(s *maasv1alpha1.MaaSSubscription, model types.NamespacedName) error {
	ref := refOf(s, model)
	if err := backend.ErrUnsafe(s.Namespace, s.Name, model.Namespace, model.Name); err != nil {
		return err
	}
	for i, rate := range ref.TokenRateLimits {
		if rate.Limit < 1 || rate.Limit > maxLimit {
			return fmt.Errorf("tokenRateLimits[%d].limit %d must be from 1 to %d", i, rate.Limit, maxLimit)
		}
		window, err := time.ParseDuration(rate.Window)
		if err != nil || window <= 0 || window > maxWindow {
			return fmt.Errorf("tokenRateLimits[%d].window %q must be a time from 1s to 8784h", i, rate.Window)
		}
	}
	return nil
}
