package predictor

import (
	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
)

// The names of the controllers, and their field managers.
const (
	Name         = "predictor"
	ServicesName = "inferenceservice"
)

// Reconciler reconciles the model of a Predictor in ModelMesh.
type Reconciler struct {
	source[*v1alpha1.Predictor]
}

// Services reconciles the model of an InferenceService in ModelMesh.
type Services struct {
	source[*v1beta1.InferenceService]
}

var (
	_ reconcile.Reconciler[*v1alpha1.Predictor, fetched, observed]       = (*Reconciler)(nil)
	_ reconcile.Reconciler[*v1beta1.InferenceService, fetched, observed] = (*Services)(nil)
)

// New declares the controller of Predictor. Settings returns the settings of an owner.
func New(m Mesh, settings func(owner ctrl.Request) Settings) *controller.Builder {
	models := newVModels(m, fromPredictors)
	return controller.New(Name, &Reconciler{source[*v1alpha1.Predictor]{
		models: models, name: fromPredictors, settings: settings,
		spec:   func(p *v1alpha1.Predictor) (*v1alpha1.PredictorSpec, error) { return &p.Spec, nil },
		status: func(p *v1alpha1.Predictor) v1alpha1.PredictorStatus { return p.Status },
	}}).External(models)
}

// NewServices declares the controller of InferenceService.
func NewServices(m Mesh, settings func(owner ctrl.Request) Settings) *controller.Builder {
	models := newVModels(m, fromServices)
	return controller.New(ServicesName, &Services{source[*v1beta1.InferenceService]{
		models: models, name: fromServices, settings: settings, spec: SpecOf,
		status: func(s *v1beta1.InferenceService) v1alpha1.PredictorStatus { return statusOf(&s.Status) },
	}}).External(models)
}

// DecorateStatus implements reconcile.StatusDecorator.
func (*Reconciler) DecorateStatus(
	s *v1alpha1.PredictorStatus, _ *conditions.Manager, _ reconcile.StatusContext[*v1alpha1.Predictor], o observed,
) {
	o.decorate(s)
}

// DecorateStatus implements reconcile.StatusDecorator. It leaves an InferenceService that ModelMesh does not serve to KServe.
func (*Services) DecorateStatus(
	s *v1beta1.InferenceServiceStatus, m *conditions.Manager, _ reconcile.StatusContext[*v1beta1.InferenceService], o observed,
) {
	if o.spec == nil && o.refused == nil {
		return
	}
	status := statusOf(s)
	o.decorate(&status)
	setStatus(s, m, &status)
}
