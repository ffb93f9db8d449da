package predictor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
)

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

// source is a kind of owner that has a model.
type source[T reconcile.Owner] struct {
	models   *VModels
	name     string // in ModelMesh
	settings func(owner ctrl.Request) Settings
	// spec is nil where ModelMesh does not serve the owner; the error is why it cannot.
	spec   func(T) (*v1alpha1.PredictorSpec, error)
	status func(T) v1alpha1.PredictorStatus
}

// observed is what ModelMesh says of the model.
type observed struct {
	spec      *v1alpha1.PredictorSpec // nil for none
	invalid   error                   // the spec
	refused   error                   // what has no spec
	target    string
	model     reconcile.FetchResult[served]
	endpoints [2]string
	now       time.Time
}

// fetched is what was read for an owner. One that ModelMesh does not serve has no model.
type fetched struct {
	settings Settings
	model    reconcile.FetchResult[served]
}

// FetchRemoteState implements reconcile.Reconciler.
func (s *source[T]) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc reconcile.ReconcileContext[T]) fetched {
	f := fetched{settings: s.settings(rc.Request)}
	if spec, err := s.spec(rc.Object); spec != nil || err != nil {
		f.model = s.models.Observe(ctx, reader, keyOf(rc.Request.NamespacedName))
	}
	return f
}

// ComposeState implements reconcile.Composer: it validates the spec.
func (s *source[T]) ComposeState(_ context.Context, rc reconcile.ReconcileContext[T], f fetched) observed {
	o := observed{now: rc.Now, endpoints: f.settings.endpoints(rc.Request.Namespace), model: f.model}
	switch o.spec, o.refused = s.spec(rc.Object); {
	case o.refused != nil:
		o.invalid = o.refused
	case o.spec != nil:
		o.invalid = validate(o.spec)
		o.target, _ = targetID(s.name, rc.Request.Name, o.spec)
	}
	return o
}

func (s Settings) endpoints(namespace string) (out [2]string) {
	out[0] = fmt.Sprintf("grpc://%s.%s:%d", s.Service, namespace, s.Port)
	if s.RESTPort > 0 {
		out[1] = fmt.Sprintf("http://%s.%s:%d", s.Service, namespace, s.RESTPort)
	}
	return out
}

// PlanResources implements reconcile.Reconciler.
func (s *source[T]) PlanResources(_ context.Context, rc reconcile.ReconcileContext[T], o observed) (plan reconcile.PlanResult, err error) {
	switch {
	case o.invalid != nil:
		plan.KeepKind(s.models.GroupVersionKind()) // what was served before still is
	case o.spec != nil:
		status := s.status(rc.Object)
		request, err := requestFor(s.name, rc.Request.Name, o.spec, loadNow(&status))
		if err != nil {
			return plan, err
		}
		s.models.Ensure(&plan, keyOf(rc.Request.NamespacedName), request)
	default:
		return plan, nil
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
func (s *source[T]) ObserveApply(_ context.Context, rc reconcile.ReconcileContext[T], o observed, outcome reconcile.ApplyOutcome) observed {
	if answer, known := s.models.Answer(outcome, keyOf(rc.Request.NamespacedName)); known {
		o.model = answer
	}
	return o
}

// GetComponentHealth implements reconcile.Observation. An invalid spec is in the status and blocks nothing: its plan keeps all.
func (o observed) GetComponentHealth(context.Context) []health.Component {
	if o.spec == nil && o.refused == nil {
		return nil
	}
	out := []health.Component{o.model.Downstream("Model", func(served) health.Component { return health.Component{} })}
	if o.refused != nil {
		out = append(out, health.Component{
			Name: "Spec", Errors: []error{health.NewError(health.InvalidSpec, v1alpha1.InvalidPredictorSpec, o.refused.Error(), nil)},
		})
	}
	return out
}

// decorate sets the status of the model.
func (o observed) decorate(s *v1alpha1.PredictorStatus) {
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
