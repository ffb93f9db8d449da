package subscription

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// LimitsName is the name of the controller of [NewLimits].
const LimitsName = "maas-token-limits"

const (
	maxLimit  = 1_000_000_000
	maxWindow = 366 * 24 * time.Hour
)

//go:embed templates/*.yaml
var files embed.FS

// Limits reconciles the limits of one model: it plans one TokenRateLimitPolicy from all subscriptions to the model.
type Limits struct {
	children *children.Set[*limits]
}

// NewLimits declares the controller of [Limits]. Its groups are models. It returns an error if a template is invalid.
func NewLimits() (*controller.Controller, error) {
	set, err := models.Children(files, children.Child[*limits]{Template: "policy.yaml", When: (*limits).Wanted})
	return controller.NewGroup(LimitsName, Limits{set}).
		Members(&maasv1alpha1.MaaSSubscription{}, modelsOf).
		Owns(models.Kind(models.TokenRateLimitPolicy), controller.Optional).
		Reads(&maasv1alpha1.MaaSModelRef{}).
		Reads(&gatewayv1.HTTPRoute{}).
		Options(models.Options("")).Build(), err
}

// modelsOf lists the models of a subscription without duplicates.
func modelsOf(object client.Object) []types.NamespacedName {
	if subscription, ok := object.(*maasv1alpha1.MaaSSubscription); ok && subscription.Spec != nil {
		return models.Keys(subscription.Spec.ModelRefs)
	}
	return nil
}

// limits are the observed limits of a model, and the input of their template.
type limits struct {
	models.Shared[*maasv1alpha1.MaaSSubscription]
}

// FetchRemoteState reads the model, its route and its subscriptions.
func (Limits) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*controller.Group]) *limits {
	model := client.ObjectKeyFromObject(rc.Object)
	return &limits{models.FetchShared(ctx, r, rc.Object, &maasv1alpha1.MaaSSubscriptionList{},
		func(s *maasv1alpha1.MaaSSubscription) error { return valid(s, model) })}
}

// PlanResources plans the policy, and nothing if no subscription has valid limits. The route that it limits controls the policy.
func (l Limits) PlanResources(
	_ context.Context, _ reconcile.ReconcileContext[*controller.Group], of *limits,
) (reconcile.PlanResult, error) {
	return l.children.Plan(of)
}

// Rates returns the limits of the subscription for the model.
func (l *limits) Rates(s *maasv1alpha1.MaaSSubscription) []maasv1alpha1.TokenRateLimit {
	return refOf(s, l.Key).TokenRateLimits
}

// refOf returns the first entry of the subscription for the model.
func refOf(s *maasv1alpha1.MaaSSubscription, model types.NamespacedName) *maasv1alpha1.ModelSubscriptionRef {
	for i := range s.Spec.ModelRefs {
		if ref := &s.Spec.ModelRefs[i]; ref.Key() == model {
			return ref
		}
	}
	return &maasv1alpha1.ModelSubscriptionRef{}
}

// valid returns an error for limits of a subscription for a model that the validation of the API server does not reject.
func valid(s *maasv1alpha1.MaaSSubscription, model types.NamespacedName) error {
	ref := refOf(s, model)
	if err := models.ErrUnsafe(s.Namespace, s.Name, model.Namespace, model.Name); err != nil {
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
