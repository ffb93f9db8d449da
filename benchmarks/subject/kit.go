package subject

import (
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/benchmarks/desired"
	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

// newKit returns a minimal controller of the SDK: it fetches nothing, and is Ready if the apply succeeded.
func newKit(env Environment) (ctrl.Reconciler, error) {
	return nil, build(env, plain{}).SetupWithManager(env.Manager)
}

// newKitFiltered returns a controller of the SDK whose caches contain only labelled objects, by [CacheOptions].
func newKitFiltered(env Environment) (ctrl.Reconciler, error) {
	return nil, filtered(env).SetupWithManager(env.Manager)
}

func filtered(env Environment) *controller.Controller {
	ours, err := labels.Parse(desired.OwnerLabel)
	if err != nil {
		panic(err) // a key is a valid selector
	}
	return build(env, plain{}, controller.Filter(client.MatchingLabelsSelector{Selector: ours}))
}

// CacheOptions returns the options of the manager's cache for a subject.
func CacheOptions(name string, scheme *runtime.Scheme) (cache.Options, error) {
	switch name {
	case KitOperator:
		return controller.CacheOptions(scheme, build(Environment{}, plain{}))
	case KitFiltered:
		return controller.CacheOptions(scheme, filtered(Environment{}))
	}
	return cache.Options{}, nil
}

// newKitWithHealth returns a controller of the SDK with the children's health in the status.
func newKitWithHealth(env Environment) (ctrl.Reconciler, error) {
	return nil, build(env, healthy{}).SetupWithManager(env.Manager)
}

// build declares a controller as a user would.
func build[F, O any](env Environment, r reconcile.Reconciler[*widget.Widget, F, O], options ...controller.KindOption) *controller.Controller {
	b := controller.New("widget", r)
	for _, kind := range desired.Kinds() {
		b.Owns(kind, options...)
	}
	return b.Options(controller.Options{
		Apply:       apply.Options{FieldManager: FieldManager},
		Concurrency: Workers,
		Recorder:    silence{},
		Observer:    env.Observer,
	}).Build()
}

// silence drops events, like all subjects.
type silence struct{}

// Eventf does nothing.
func (silence) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

type widgetContext = reconcile.ReconcileContext[*widget.Widget]

func plan(rc widgetContext) reconcile.PlanResult {
	var result reconcile.PlanResult
	for _, child := range desired.Children(rc.Object) {
		result.Apply(child)
	}
	return result
}

// plain plans the children and reads nothing.
type plain struct{}

type nothing struct{}

// GetComponentHealth returns no components, because the subject reads no child.
func (nothing) GetComponentHealth(context.Context) []health.Component { return nil }

func (plain) FetchRemoteState(context.Context, reconcile.Reader, widgetContext) nothing {
	return nothing{}
}

func (plain) PlanResources(_ context.Context, rc widgetContext, _ nothing) (reconcile.PlanResult, error) {
	return plan(rc), nil
}

// healthy fetches every child and reports the worst of each kind.
type healthy struct{}

type fetched []reconcile.FetchResult[client.Object]

type observed struct{ components []health.Component }

// GetComponentHealth returns one component for each kind of child.
func (o observed) GetComponentHealth(context.Context) []health.Component { return o.components }

func (healthy) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc widgetContext) fetched {
	out := make(fetched, 0, rc.Object.Spec.Count)
	for i := range rc.Object.Spec.Count {
		key := client.ObjectKey{Namespace: rc.Object.Namespace, Name: desired.ChildName(rc.Object, i)}
		out = append(out, reconcile.Fetch(ctx, r, key, desired.Kind(i)))
	}
	return out
}

func (healthy) ComposeState(_ context.Context, _ widgetContext, children fetched) observed {
	names := [...]string{"Deployments", "Services", "ConfigMaps", "ServiceAccounts", "Secrets"}
	var out observed
	for i, child := range children {
		component := child.Downstream(names[i%len(names)], componentOf)
		if i < len(names) {
			out.components = append(out.components, component)
		} else if before := &out.components[i%len(names)]; health.Worse(component.GetState(), before.GetState()) {
			*before = component
		}
	}
	return out
}

func (healthy) PlanResources(_ context.Context, rc widgetContext, _ observed) (reconcile.PlanResult, error) {
	return plan(rc), nil
}

// componentOf returns the health of a child. Kinds without a health of their own are ready if they exist.
func componentOf(child client.Object) health.Component {
	switch child := child.(type) {
	case *appsv1.Deployment:
		return inspect.Of(child)
	case *corev1.Service:
		return inspect.Of(child)
	}
	return health.Component{State: health.Ready, Reason: "Exists", Message: fmt.Sprintf("%T exists", child)}
}
