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

// The polling intervals for a Predictor that waits for a pod, and for one whose model is loading: no event reports the end of
// either.
const (
	waitingPoll = 3 * time.Second
	loadingPoll = time.Second
)

// Settings are the addresses in the status.
type Settings struct {
	// Service and Port are the Service and port of ModelMesh in each namespace. RESTPort is the port of its REST proxy, or 0.
	Service        string
	Port, RESTPort int
}

// source is a kind whose objects have a model.
type source[T reconcile.Owner] struct {
	models   *VModels
	name     string // the name of the source in ModelMesh
	settings func(owner ctrl.Request) Settings
	// spec returns nil if ModelMesh does not serve the owner, and an error if it cannot be served.
	spec   func(T) (*v1alpha1.PredictorSpec, error)
	status func(T) v1alpha1.PredictorStatus
}

// observed is the state of the model in ModelMesh.
type observed struct {
	spec      *v1alpha1.PredictorSpec // nil if there is none
	invalid   error                   // the error of an invalid spec
	refused   error                   // the error of an owner without a spec
	target    string
	model     reconcile.FetchResult[served]
	endpoints [2]string
	now       time.Time
}

// fetched contains the objects that were read for an owner. It is empty if ModelMesh does not serve the owner.
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
		plan.KeepKind(s.models.GroupVersionKind()) // the previous model is still served
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

// loadNow reports whether a model must be loaded before the first request.
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

// poll returns the polling interval.
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

// ObserveApply implements reconcile.ApplyObserver. The answer of ModelMesh is newer than the observed state.
func (s *source[T]) ObserveApply(_ context.Context, rc reconcile.ReconcileContext[T], o observed, outcome reconcile.ApplyOutcome) observed {
	if answer, known := s.models.Answer(outcome, keyOf(rc.Request.NamespacedName)); known {
		o.model = answer
	}
	return o
}

// GetComponentHealth implements reconcile.Observation. An invalid spec is reported in the status and blocks nothing: its plan keeps
// everything.
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
	if s.TransitionStatus == "" { // of an owner that was created without the defaults of the CRD
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
