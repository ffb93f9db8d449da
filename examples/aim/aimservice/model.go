package aimservice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

// ErrMultipleModelsFound is the cause when several models have the image that a
// service asks for.
var ErrMultipleModelsFound = errors.New("multiple models found with the same image")

// ModelFetchResult is the outcome of looking for the model of a service. At most
// one of Model and ClusterModel has a value.
type ModelFetchResult struct {
	// Model is the model of the namespace, or why there is none.
	Model reconcile.FetchResult[*aimv1alpha1.AIMModel]
	// ClusterModel is the model of the cluster, or why there is none.
	ClusterModel reconcile.FetchResult[*aimv1alpha1.AIMClusterModel]
	// ImageURI is the image to make a model for; set when none has it.
	ImageURI string
	// CustomSpec is what to make a model for; set when none fits.
	CustomSpec *aimv1alpha1.AIMServiceModelCustom
	// err is what is wrong with the choice itself.
	err error
}

// model is a model of either scope.
type model struct {
	name, namespace string
	uid             types.UID
	spec            *aimv1alpha1.AIMModelSpec
	status          aimv1alpha1.AIMStatus
}

// resolved returns the model that was found.
func (f ModelFetchResult) resolved() (model, bool) {
	switch {
	case f.Model.Value != nil:
		m := f.Model.Value
		return model{name: m.Name, namespace: m.Namespace, uid: m.UID, spec: &m.Spec, status: m.Status.Status}, true
	case f.ClusterModel.Value != nil:
		m := f.ClusterModel.Value
		return model{name: m.Name, uid: m.UID, spec: &m.Spec, status: m.Status.Status}, true
	}
	return model{}, false
}

func (m model) reference() *aimv1alpha1.AIMResolvedReference {
	return reference(m.name, m.namespace, m.uid)
}

// reference names an object of a namespace, or of the cluster when there is none.
func reference(name, namespace string, uid types.UID) *aimv1alpha1.AIMResolvedReference {
	scope := aimv1alpha1.AIMResolutionScopeNamespace
	if namespace == "" {
		scope = aimv1alpha1.AIMResolutionScopeCluster
	}
	return &aimv1alpha1.AIMResolvedReference{Name: name, Namespace: namespace, Scope: scope, UID: uid}
}

// fetchModel finds the model of a service: the one that it uses already while that
// is Ready, else the one that its spec asks for.
func fetchModel(ctx context.Context, r reconcile.Reader, service *aimv1alpha1.AIMService) ModelFetchResult {
	if used := service.Status.ResolvedModel; used != nil {
		found := modelByName(ctx, r, used.Namespace, used.Name, used.Scope == aimv1alpha1.AIMResolutionScopeCluster)
		if m, ok := found.resolved(); ok && m.status == aimv1alpha1.AIMStatusReady {
			return found
		}
	}
	spec := service.Spec.Model
	switch {
	case spec.Name != nil && strings.TrimSpace(*spec.Name) != "":
		name := strings.TrimSpace(*spec.Name)
		found := modelByName(ctx, r, service.Namespace, name, false)
		if found.Model.IsNotFound() && found.ClusterModel.IsNotFound() {
			found.err = health.NewError(health.MissingUpstreamDependency, "ModelNotFound",
				fmt.Sprintf("model %q not found in namespace %s or cluster scope", name, service.Namespace), nil)
		}
		return found
	case spec.Image != nil && strings.TrimSpace(*spec.Image) != "":
		return modelByImage(ctx, r, service.Namespace, strings.TrimSpace(*spec.Image))
	case spec.Custom != nil:
		found, err := FindMatchingCustomModel(ctx, r, service.Namespace, spec.Custom)
		result := ModelFetchResult{Model: reconcile.FetchResult[*aimv1alpha1.AIMModel]{Value: found, Error: err}}
		if err == nil && found == nil {
			result.CustomSpec = spec.Custom
		}
		return result
	}
	return ModelFetchResult{err: health.NewError(health.InvalidSpec, "ModelNotFound", "spec.model must have a name, an image or custom", nil)}
}

// modelByName reads the model of the namespace, and where there is none, or only
// the cluster is asked for, that of the cluster.
func modelByName(ctx context.Context, r reconcile.Reader, namespace, name string, clusterOnly bool) (f ModelFetchResult) {
	if !clusterOnly {
		f.Model = reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: namespace, Name: name}, &aimv1alpha1.AIMModel{})
	}
	if clusterOnly || f.Model.IsNotFound() {
		f.ClusterModel = reconcile.Fetch(ctx, r, client.ObjectKey{Name: name}, &aimv1alpha1.AIMClusterModel{})
	}
	return f
}

// modelByImage finds the one model with the image in the namespace and the cluster.
func modelByImage(ctx context.Context, r reconcile.Reader, namespace, image string) ModelFetchResult {
	var f ModelFetchResult
	models := reconcile.FetchList(ctx, r, &aimv1alpha1.AIMModelList{}, client.InNamespace(namespace))
	clusterModels := reconcile.FetchList(ctx, r, &aimv1alpha1.AIMClusterModelList{})
	if err := errors.Join(models.Error, clusterModels.Error); err != nil {
		return ModelFetchResult{err: err}
	}
	var found []string
	for i := range models.Value.Items {
		if m := &models.Value.Items[i]; strings.TrimSpace(m.Spec.Image) == image {
			f.Model.Value = m
			found = append(found, "AIMModel "+m.Namespace+"/"+m.Name)
		}
	}
	for i := range clusterModels.Value.Items {
		if m := &clusterModels.Value.Items[i]; strings.TrimSpace(m.Spec.Image) == image {
			f.ClusterModel.Value = m
			found = append(found, "AIMClusterModel "+m.Name)
		}
	}
	switch len(found) {
	case 0:
		f.ImageURI = image
		if _, err := GenerateModelName(image); err != nil {
			f.err = health.NewError(health.InvalidSpec, "InvalidImageReference", err.Error(), err)
		}
	case 1:
	default:
		slices.Sort(found)
		return ModelFetchResult{err: health.NewError(health.InvalidSpec, "MultipleModelsFound",
			fmt.Sprintf("%v %q: %s; ask for one of them by name", ErrMultipleModelsFound, image, strings.Join(found, ", ")), ErrMultipleModelsFound)}
	}
	return f
}

// FindMatchingCustomModel returns the model of the namespace with the image and the
// sources of a custom one, nil when there is none; of several the first by name.
// Sources are compared by model, place and S3 endpoint.
func FindMatchingCustomModel(
	ctx context.Context, r client.Reader, namespace string, custom *aimv1alpha1.AIMServiceModelCustom,
) (*aimv1alpha1.AIMModel, error) {
	models := reconcile.FetchList(ctx, r, &aimv1alpha1.AIMModelList{}, client.InNamespace(namespace))
	if models.Error != nil {
		return nil, models.Error
	}
	sameSource := func(a, b aimv1alpha1.AIMModelSource) bool {
		return a.ModelID == b.ModelID && a.SourceURI == b.SourceURI && endpointOf(a) == endpointOf(b)
	}
	fits := slices.DeleteFunc(models.Value.Items, func(m aimv1alpha1.AIMModel) bool {
		return m.Spec.Image != custom.BaseImage || !slices.EqualFunc(m.Spec.ModelSources, custom.ModelSources, sameSource)
	})
	if len(fits) == 0 {
		return nil, nil
	}
	first := slices.MinFunc(fits, func(a, b aimv1alpha1.AIMModel) int { return cmp.Compare(a.Name, b.Name) })
	return &first, nil
}

// newModel builds the model that a service needs and nobody has, nil for none.
func (f ModelFetchResult) newModel(service *aimv1alpha1.AIMService) *aimv1alpha1.AIMModel {
	labels := map[string]string{managedByLabel: managedBy, originLabel: "auto-generated"}
	spec := aimv1alpha1.AIMModelSpec{
		RuntimeConfigName: service.Spec.RuntimeConfigName, ServiceAccountName: service.Spec.ServiceAccountName,
		ImagePullSecrets: slices.Clone[[]corev1.LocalObjectReference](service.Spec.ImagePullSecrets),
	}
	var name string
	switch {
	case f.err != nil:
		return nil
	case f.ImageURI != "":
		name, _ = GenerateModelName(f.ImageURI) // an error is f.err
		spec.Image = f.ImageURI
	case f.CustomSpec != nil:
		name = GenerateCustomModelName(f.CustomSpec)
		labels[domain+"custom-model"], labels[serviceLabel] = "true", childLabels(service, nil, nil)[serviceLabel]
		spec.Image, spec.ModelSources = f.CustomSpec.BaseImage, f.CustomSpec.ModelSources
		spec.Custom = &aimv1alpha1.AIMCustomModelSpec{Hardware: &f.CustomSpec.Hardware}
	default:
		return nil
	}
	return &aimv1alpha1.AIMModel{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: service.Namespace, Labels: labels}, Spec: spec}
}

// modelHealth tells how the model is.
func (obs ServiceObservation) modelHealth() health.Component {
	const name = "Model"
	if obs.newModel != nil {
		return health.Component{Name: name, State: health.Pending, Reason: "CreatingModel",
			Message: "Making model " + obs.newModel.Name, Dependency: health.Downstream}
	}
	c := health.Component{Name: name, Dependency: health.Upstream}
	if m, found := obs.models.resolved(); found {
		return dependencyHealth(c, "Model "+m.name, m.status, "ModelResolved", "ModelNotReady")
	}
	for _, err := range []error{obs.models.err, obs.models.Model.Error, obs.models.ClusterModel.Error} {
		if client.IgnoreNotFound(err) != nil && len(c.Errors) == 0 {
			c.Errors = []error{err}
		}
	}
	return c
}

// dependencyHealth tells how a model or a template is by the word of its status.
func dependencyHealth(c health.Component, what string, status aimv1alpha1.AIMStatus, ready, notReady string) health.Component {
	c.State, c.Reason, c.Message = health.Progressing, notReady, fmt.Sprintf("%s is %s", what, cmp.Or(status, "without status"))
	switch status {
	case aimv1alpha1.AIMStatusReady:
		c.State, c.Reason, c.Message = health.Ready, ready, what+" is ready"
	case aimv1alpha1.AIMStatusFailed, aimv1alpha1.AIMStatusDegraded:
		c.State = health.Failed
	default: // it may still become ready
	}
	return c
}
