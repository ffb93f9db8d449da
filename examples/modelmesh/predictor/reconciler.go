package predictor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
)

// Name of the controller, and its field manager.
const Name = "predictor"

// How soon a Predictor is looked at again that waits for a pod, and one whose model loads: no event tells of either.
const (
	waitingPoll = 3 * time.Second
	loadingPoll = time.Second
)

// Settings are what the status tells clients.
type Settings struct {
	// Service and Port are those of ModelMesh in each namespace; RESTPort is that of its REST proxy, 0 for none.
	Service        string
	Port, RESTPort int
}

// New declares the controller. Settings returns those that an owner sees.
func New(models *VModels, settings func(owner ctrl.Request) Settings) *controller.Builder[*v1alpha1.Predictor, observed, observed] {
	return controller.New(Name, &Reconciler{models: models, settings: settings}).External(models)
}

type pass = reconcile.ReconcileContext[*v1alpha1.Predictor]

// Reconciler keeps the model of a Predictor in ModelMesh.
type Reconciler struct {
	models   *VModels
	settings func(owner ctrl.Request) Settings
}

var _ reconcile.Reconciler[*v1alpha1.Predictor, observed, observed] = (*Reconciler)(nil)

// observed is what ModelMesh says of the model.
type observed struct {
	invalid   error // the spec
	target    string
	model     reconcile.FetchResult[served]
	endpoints [2]string
	now       time.Time
}

// FetchRemoteState implements reconcile.Reconciler.
func (r *Reconciler) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc pass) observed {
	return observed{
		invalid: validate(&rc.Object.Spec), model: r.models.Observe(ctx, reader, keyOf(rc.Request.NamespacedName)),
		endpoints: r.settings(rc.Request).endpoints(rc.Request.Namespace), now: rc.Now,
	}
}

func (s Settings) endpoints(namespace string) (out [2]string) {
	out[0] = fmt.Sprintf("grpc://%s.%s:%d", s.Service, namespace, s.Port)
	if s.RESTPort > 0 {
		out[1] = fmt.Sprintf("http://%s.%s:%d", s.Service, namespace, s.RESTPort)
	}
	return out
}

// PlanResources implements reconcile.Reconciler.
func (r *Reconciler) PlanResources(_ context.Context, rc pass, o observed) (plan reconcile.PlanResult, err error) {
	if o.invalid != nil {
		plan.KeepKind(r.models.GroupVersionKind()) // what was served before still is
	} else {
		request, err := requestFor(rc.Object.Name, &rc.Object.Spec, loadNow(&rc.Object.Status))
		if err != nil {
			return plan, err
		}
		r.models.Ensure(&plan, keyOf(rc.Request.NamespacedName), request)
	}
	plan.RequeueAfter = o.poll()
	return plan, nil
}

// loadNow reports whether a model must be loaded before somebody asks for it.
func loadNow(s *v1alpha1.PredictorStatus) bool {
	waiting := s.LastFailureInfo != nil && s.LastFailureInfo.Reason == v1alpha1.RuntimeUnhealthy
	switch s.ActiveModelState {
	case "", v1alpha1.Pending, v1alpha1.FailedToLoad:
		return true
	case v1alpha1.Loading:
		return waiting || s.TargetModelState != ""
	}
	return s.TargetModelState != ""
}

// poll is how soon to look again.
func (o observed) poll() time.Duration {
	v := &o.model.Value.VModel
	switch {
	case o.model.Value.NoInstances || o.model.HasError():
		return waitingPoll
	case waits(v.ActiveModel) || waits(v.TargetModel):
		return waitingPoll
	case loads(v.ActiveModel) || loads(v.TargetModel):
		return loadingPoll
	}
	return 0
}

func waits(m *mmesh.Model) bool {
	f := fold(m, "").failure
	return f != nil && f.Reason == v1alpha1.RuntimeUnhealthy
}

func loads(m *mmesh.Model) bool { return m != nil && m.State == mmesh.Loading }

// ObserveApply implements reconcile.ApplyObserver: what ModelMesh has answered is newer than what was observed.
func (r *Reconciler) ObserveApply(_ context.Context, rc pass, o observed, outcome reconcile.ApplyOutcome) observed {
	if answer, known := r.models.Answer(outcome, keyOf(rc.Request.NamespacedName)); known {
		o.model = answer
	}
	o.target, _ = targetID(rc.Object.Name, &rc.Object.Spec)
	return o
}

// GetComponentHealth implements reconcile.Observation. An invalid spec is in the status and blocks nothing: its plan keeps all.
func (o observed) GetComponentHealth(context.Context) []health.Component {
	return []health.Component{o.model.Downstream("Model", func(served) health.Component { return health.Component{} })}
}

// DecorateStatus implements reconcile.StatusDecorator.
func (*Reconciler) DecorateStatus(s *v1alpha1.PredictorStatus, _ *conditions.Manager, o observed) {
	if s.TransitionStatus == "" { // of an owner that was made without the defaults of the CRD
		s.TransitionStatus, s.ActiveModelState = v1alpha1.UpToDate, v1alpha1.Pending
	}
	model := o.model.Value
	switch {
	case o.model.HasError():
		var refused health.Classified
		if errors.As(o.model.Error, &refused) && refused.HealthReason() == "OwnedByAnotherSource" {
			s.LastFailureInfo = &v1alpha1.FailureInfo{Reason: v1alpha1.InvalidPredictorSpec, Message: otherSource}
		}
	case model.NoInstances:
		s.Available = false
		s.LastFailureInfo = &v1alpha1.FailureInfo{Reason: v1alpha1.RuntimeUnhealthy, Message: waitingForPod, ModelID: o.target}
	default:
		s.GRPCEndpoint, s.HTTPEndpoint = o.endpoints[0], o.endpoints[1]
		if o.invalid == nil {
			update(s, &model.VModel, o.now)
			break
		}
		active, _, _ := models(s, &model.VModel)
		s.Available = serves(active) && active.state != v1alpha1.Pending
	}
	if o.invalid != nil {
		s.TransitionStatus = v1alpha1.InvalidSpec
		s.Available = s.Available && s.ActiveModelState != v1alpha1.Pending
		s.LastFailureInfo = &v1alpha1.FailureInfo{Reason: v1alpha1.InvalidPredictorSpec, Message: o.invalid.Error(), ModelID: o.target}
	}
}
