package subscription

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// LimitsName is the name of the controller of [NewLimits].
const LimitsName = "maas-token-limits"

const (
	subscriptionsAnnotation = "maas.opendatahub.io/subscriptions"
	maxLimit                = 1_000_000_000
	maxWindow               = 366 * 24 * time.Hour
)

// Limits reconciles the limits of one model: all subscriptions to it make one
// TokenRateLimitPolicy.
type Limits struct{}

// NewLimits declares the controller of the limits. Its groups are models.
func NewLimits() *controller.Builder[*controller.Group, *limits, *limits] {
	policy := backend.Kind(backend.TokenRateLimitPolicy)
	return controller.NewGroup(LimitsName, Limits{}).
		Members(&maasv1alpha1.MaaSSubscription{}, modelsOf).
		Owns(policy).Optional(policy).
		Reads(&maasv1alpha1.MaaSModelRef{}, &gatewayv1.HTTPRoute{}).
		Options(backend.Options(""))
}

// modelsOf lists the models of a subscription, each once.
func modelsOf(object client.Object) []types.NamespacedName {
	subscription, ok := object.(*maasv1alpha1.MaaSSubscription)
	if !ok || subscription.Spec == nil {
		return nil
	}
	var keys []types.NamespacedName
	for _, ref := range subscription.Spec.ModelRefs {
		if key := backend.Key(ref.Namespace, ref.Name); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// limits is what is known of the limits of a model.
type limits struct {
	model         backend.Model
	subscriptions reconcile.FetchResult[*maasv1alpha1.MaaSSubscriptionList]
}

// FetchRemoteState reads the model, its route and its subscriptions.
func (Limits) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*controller.Group]) *limits {
	return &limits{
		model:         backend.FetchModel(ctx, r, client.ObjectKeyFromObject(rc.Object)),
		subscriptions: reconcile.FetchList(ctx, r, &maasv1alpha1.MaaSSubscriptionList{}, controller.MembersOf(rc.Object)),
	}
}

// ComposeState leaves the limits as they are.
func (Limits) ComposeState(_ context.Context, _ reconcile.ReconcileContext[*controller.Group], l *limits) *limits {
	return l
}

// each visits the subscriptions that count, with what is wrong with them.
func (l *limits) each(visit func(s *maasv1alpha1.MaaSSubscription, refused error)) {
	for i := range l.subscriptions.Value.Items {
		if s := &l.subscriptions.Value.Items[i]; s.DeletionTimestamp.IsZero() {
			visit(s, valid(s, l.model.Key))
		}
	}
}

// GetMembers lists them.
func (l *limits) GetMembers() []controller.Member {
	var members []controller.Member
	l.each(func(s *maasv1alpha1.MaaSSubscription, refused error) {
		members = append(members, controller.MemberOf(s, refused))
	})
	return members
}

// GetComponentHealth keeps the policy as it is while the model has no route but
// subscriptions: it is needed again when the route comes back.
func (l *limits) GetComponentHealth(context.Context) []health.Component {
	if l.model.Gone() != "" || l.model.Ref.Value == nil || l.model.Served() || len(l.GetMembers()) == 0 {
		return nil
	}
	return []health.Component{l.model.Waiting()}
}

// PlanResources plans the policy, controlled by the route that it limits; none
// when no subscription has valid limits.
func (Limits) PlanResources(_ context.Context, _ reconcile.ReconcileContext[*controller.Group], l *limits) reconcile.PlanResult {
	var plan reconcile.PlanResult
	if !l.model.Served() {
		return plan
	}
	model, entries := l.model.Key, map[string]any{}
	var names []string
	l.each(func(s *maasv1alpha1.MaaSSubscription, refused error) {
		if refused == nil {
			entries[limitName(s, model)] = entry(s, model)
			names = append(names, s.Name)
		}
	})
	if len(entries) == 0 {
		return plan
	}
	route := l.model.Route.Value
	labels := backend.PolicyLabels(model, "maas-subscription", "token-rate-limit-policy")
	labels[backend.ModelNamespaceLabel] = model.Namespace
	policy := backend.New(backend.TokenRateLimitPolicy, policyKey(model), labels, map[string]any{
		"targetRef": backend.Target(route.Name), "limits": entries,
	})
	slices.Sort(names)
	policy.SetAnnotations(map[string]string{subscriptionsAnnotation: strings.Join(names, ",")})
	policy.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(route, gatewayv1.SchemeGroupVersion.WithKind("HTTPRoute"))})
	plan.Apply(policy)
	return plan
}

func policyKey(model types.NamespacedName) types.NamespacedName {
	return backend.Key(model.Namespace, "maas-trlp-"+model.Name)
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
		if ref := &s.Spec.ModelRefs[i]; backend.Key(ref.Namespace, ref.Name) == model {
			return ref
		}
	}
	return &maasv1alpha1.ModelSubscriptionRef{}
}

// valid says what is wrong with the limits of a subscription for a model, which
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
