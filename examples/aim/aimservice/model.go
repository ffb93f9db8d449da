package aimservice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// ErrMultipleModelsFound is returned when several models have the image that a service requests.
var ErrMultipleModelsFound = errors.New("multiple models found with the same image")

// ModelFetchResult is the result of reading the model of a service. At most one of Model and ClusterModel has a value.
type ModelFetchResult struct {
	// Model is the model of the namespace, or the reason why there is none.
	Model reconcile.FetchResult[*aimv1alpha1.AIMModel]
	// ClusterModel is the model of the cluster, or the reason why there is none.
	ClusterModel reconcile.FetchResult[*aimv1alpha1.AIMClusterModel]
	// ImageURI is the image of the model to create, if no model has it.
	ImageURI string
	// CustomSpec is the spec of the model to create, if no model matches it.
	CustomSpec *aimv1alpha1.AIMServiceModelCustom
	// err is the error of the choice.
	err error
}

// resolved returns the model that was found, or nil. A cluster model is returned as a model without a namespace.
func (f ModelFetchResult) resolved() *aimv1alpha1.AIMModel {
	if m := f.ClusterModel.Value; m != nil {
		return &aimv1alpha1.AIMModel{ObjectMeta: m.ObjectMeta, Spec: m.Spec, Status: m.Status}
	}
	return f.Model.Value
}

// fetchModel finds the model of a service: the one in use while it is Ready, else the one that the spec requests.
func fetchModel(ctx context.Context, r reconcile.Reader, service *aimv1alpha1.AIMService) (f ModelFetchResult) {
	if used := service.Status.ResolvedModel; used != nil {
		if found := modelByName(ctx, r, used.Namespace, used.Name); found.resolved().IsReady() {
			return found
		}
	}
	spec := service.Spec.Model
	name, image := strings.TrimSpace(ptr.Deref(spec.Name, "")), strings.TrimSpace(ptr.Deref(spec.Image, ""))
	switch {
	case name != "":
		f = modelByName(ctx, r, service.Namespace, name)
		if f.ClusterModel.IsNotFound() {
			f.err = notFound("ModelNotFound", "model", name, service.Namespace)
		}
	case image != "":
		f = modelByImage(ctx, r, service.Namespace, image)
	case spec.Custom != nil:
		f.Model.Value, f.Model.Error = FindMatchingCustomModel(ctx, r, service.Namespace, spec.Custom)
		if f.Model.Value == nil && f.Model.OK() {
			f.CustomSpec = spec.Custom
		}
	default:
		f.err = health.NewError(health.InvalidSpec, "ModelNotFound", "spec.model must have a name, an image or custom", nil)
	}
	return f
}

// notFound returns the error for a model or template that neither the namespace nor the cluster has.
func notFound(reason, what, name, namespace string) error {
	return health.NewError(health.MissingUpstreamDependency, reason,
		fmt.Sprintf("%s %q not found in namespace %s or cluster scope", what, name, namespace), nil)
}

// modelByName reads the model of the namespace, if a namespace is given, else that of the cluster.
func modelByName(ctx context.Context, r reconcile.Reader, namespace, name string) (f ModelFetchResult) {
	key := client.ObjectKey{Namespace: namespace, Name: name}
	f.Model, f.ClusterModel = reconcile.FetchNearest(ctx, r, key, &aimv1alpha1.AIMModel{}, &aimv1alpha1.AIMClusterModel{})
	return f
}

// modelByImage finds the only model with the image in the namespace and the cluster.
func modelByImage(ctx context.Context, r reconcile.Reader, namespace, image string) (f ModelFetchResult) {
	withImage := client.MatchingFields{imageIndex: image}
	models := reconcile.FetchList(ctx, r, &aimv1alpha1.AIMModelList{}, client.InNamespace(namespace), withImage)
	clusterModels := reconcile.FetchList(ctx, r, &aimv1alpha1.AIMClusterModelList{}, withImage)
	if err := errors.Join(models.Error, clusterModels.Error); err != nil {
		return ModelFetchResult{err: err}
	}
	var found []string
	for i := range models.Value.Items {
		f.Model.Value = &models.Value.Items[i]
		found = append(found, "AIMModel "+namespace+"/"+f.Model.Value.Name)
	}
	for i := range clusterModels.Value.Items {
		f.ClusterModel.Value = &clusterModels.Value.Items[i]
		found = append(found, "AIMClusterModel "+f.ClusterModel.Value.Name)
	}
	if len(found) == 0 {
		if _, err := GenerateModelName(image); err != nil {
			return ModelFetchResult{err: health.NewError(health.InvalidSpec, "InvalidImageReference", err.Error(), err)}
		}
		f.ImageURI = image
	}
	if len(found) > 1 {
		slices.Sort(found)
		return ModelFetchResult{err: health.NewError(health.InvalidSpec, "MultipleModelsFound",
			fmt.Sprintf("%v %q: %s; ask for one of them by name", ErrMultipleModelsFound, image, strings.Join(found, ", ")), ErrMultipleModelsFound)}
	}
	return f
}

// FindMatchingCustomModel returns the model of the namespace with the image and the sources of a custom one, or nil. Of several it
// returns the first by name. Sources are equal if model, location and S3 endpoint are.
func FindMatchingCustomModel(
	ctx context.Context, r client.Reader, namespace string, custom *aimv1alpha1.AIMServiceModelCustom,
) (*aimv1alpha1.AIMModel, error) {
	models := reconcile.FetchList(ctx, r, &aimv1alpha1.AIMModelList{}, client.InNamespace(namespace))
	sameSource := func(a, b aimv1alpha1.AIMModelSource) bool {
		return a.ModelID == b.ModelID && a.SourceURI == b.SourceURI && endpointOf(a) == endpointOf(b)
	}
	var first *aimv1alpha1.AIMModel
	for i := range models.Value.Items {
		m := &models.Value.Items[i]
		fits := m.Spec.Image == custom.BaseImage && slices.EqualFunc(m.Spec.ModelSources, custom.ModelSources, sameSource)
		if fits && (first == nil || m.Name < first.Name) {
			first = m
		}
	}
	return first, models.Error
}

// newModel builds the model to create for the service, or returns nil.
func (f ModelFetchResult) newModel(service *aimv1alpha1.AIMService) *aimv1alpha1.AIMModel {
	out := &aimv1alpha1.AIMModel{
		ObjectMeta: metav1.ObjectMeta{Namespace: service.Namespace, Labels: createdLabels(service)},
		Spec: aimv1alpha1.AIMModelSpec{
			RuntimeConfigName: service.Spec.RuntimeConfigName, ServiceAccountName: service.Spec.ServiceAccountName,
			ImagePullSecrets: service.Spec.ImagePullSecrets,
		},
	}
	out.Labels[originLabel] = "auto-generated"
	switch custom := f.CustomSpec; {
	case f.ImageURI != "":
		out.Name, _ = GenerateModelName(f.ImageURI) // ImageURI is set only if it is valid
		out.Spec.Image = f.ImageURI
	case custom != nil:
		out.Name = GenerateCustomModelName(custom)
		out.Labels[domain+"custom-model"], out.Labels[serviceLabel] = "true", serviceLabelValue(service)
		out.Spec.Image, out.Spec.ModelSources = custom.BaseImage, custom.ModelSources
		out.Spec.Custom = &aimv1alpha1.AIMCustomModelSpec{Hardware: &custom.Hardware}
	default:
		return nil
	}
	return out
}

// modelHealth returns the health of the model.
func (obs ServiceObservation) modelHealth() health.Component {
	c := health.Component{Name: "Model", Dependency: health.Upstream}
	switch {
	case obs.newModel != nil:
		c.State, c.Reason, c.Message, c.Dependency = health.Pending, "CreatingModel", "Making model "+obs.newModel.Name, health.Downstream
	case obs.model != nil:
		return modelStates.assess(c, "Model "+obs.model.Name, obs.model.Status.Status)
	default:
		c.Errors = []error{cmp.Or(obs.models.err, obs.models.Model.Failure(), obs.models.ClusterModel.Failure())}
	}
	return c
}
