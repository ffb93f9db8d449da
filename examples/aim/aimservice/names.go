package aimservice

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reconcilekit/reconcilekit/naming"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/runtimeconfig"
)

const (
	// hashLength is the product's: its longest namespaces leave room for no more.
	// Names of two services never meet by accident within a namespace, since the
	// hash covers the whole name; should hashes collide, the second service is told.
	hashLength = naming.HashLength(8)
	// predictorInfix is what KServe puts between the name of an InferenceService
	// and its namespace to make a host name, which is one DNS label.
	predictorInfix = "-predictor-"
	// minInferenceServiceName is the shortest budget that is still worth a name.
	minInferenceServiceName = 10
)

// GenerateModelName returns the name of the model that is made for an image. The
// error reports why the image is no valid reference.
func GenerateModelName(imageURI string) (string, error) {
	imageURI = strings.TrimSpace(imageURI)
	image, err := naming.ParseImage(imageURI)
	if err != nil {
		return "", fmt.Errorf("invalid image URI %q: %w", imageURI, err)
	}
	_, name, version := image.Parts()
	if name == "" || version == "" {
		return "", fmt.Errorf("invalid image URI %q: name and tag must have a letter or a digit", imageURI)
	}
	return naming.Derive([]string{name, version}, hashLength, naming.HashInputs(imageURI))
}

// GenerateInferenceServiceName returns the name of a service's InferenceService.
// KServe makes the host {name}-predictor-{namespace} of it, which must not exceed
// 63 characters and starts with a letter: a namespace of more than 42 characters
// leaves no room and is an error.
func GenerateInferenceServiceName(serviceName, namespace string) (string, error) {
	budget := naming.MaxLabel - len(predictorInfix) - len(namespace)
	if budget < minInferenceServiceName {
		return "", fmt.Errorf("namespace %q is too long (%d chars); InferenceService hostname would exceed %d characters",
			namespace, len(namespace), naming.MaxLabel)
	}
	return naming.Derive([]string{serviceName}, hashLength, naming.HashInputs(namespace),
		naming.MaxLength(budget), naming.StartWithLetter)
}

// GenerateHTTPRouteName returns the name of a service's HTTPRoute.
func GenerateHTTPRouteName(serviceName, namespace string) (string, error) {
	return naming.Derive([]string{serviceName}, hashLength, naming.HashInputs(namespace))
}

// routeName is the name of a service's HTTPRoute: of two strings a name can always be made.
func routeName(service *aimv1alpha1.AIMService) string {
	name, _ := GenerateHTTPRouteName(service.Name, service.Namespace)
	return name
}

// GenerateTemplateCacheName returns the name of a template's cache: one for all
// services of the namespace, or in a dedicated mode one for the service with the
// given identity, which is its UID.
func GenerateTemplateCacheName(
	templateName, namespace, serviceName, serviceIdentity string, cachingMode aimv1alpha1.AIMCachingMode,
) (string, error) {
	if cachingMode.Normalized() == aimv1alpha1.CachingModeDedicated {
		return naming.Derive([]string{templateName, serviceName}, hashLength, naming.HashInputs(serviceIdentity))
	}
	return naming.Derive([]string{templateName}, hashLength, naming.HashInputs(namespace))
}

// GenerateCustomModelName returns the name of the model that is made for a custom
// one. It covers what makes the weights: the image, and for each source the model,
// the place and the endpoint. It is empty only when nothing can be derived, which
// no valid spec causes.
func GenerateCustomModelName(custom *aimv1alpha1.AIMServiceModelCustom) string {
	part, inputs := "custom-model", []any{custom.BaseImage}
	for i, source := range custom.ModelSources {
		if i == 0 {
			part = source.ModelID
		}
		inputs = append(inputs, source.ModelID, source.SourceURI, endpointOf(source))
	}
	name, _ := naming.Derive([]string{part}, hashLength, naming.HashInputs(inputs...))
	return name
}

// endpointOf returns the S3 endpoint of a source: two endpoints are two places.
func endpointOf(source aimv1alpha1.AIMModelSource) string {
	for _, env := range source.Env {
		if env.Name == "AWS_ENDPOINT_URL" {
			return env.Value
		}
	}
	return ""
}

// derivedTemplateName returns the name of the template that a service makes of
// another one with its overrides; without any it is the base. The identity of the service is in the hash: the
// service owns its derived template, so no two services may share one.
func derivedTemplateName(base string, overrides *aimv1alpha1.AIMServiceOverrides, identity types.UID) string {
	parts := overrideParts(overrides)
	if len(parts) == 0 {
		return base
	}
	name, _ := naming.Derive(append([]string{base, "ovr"}, parts...), hashLength, naming.HashInputs(identity)) // strings always make one
	return name
}

// overrideParts lists what overrides change, as parts of a name.
func overrideParts(overrides *aimv1alpha1.AIMServiceOverrides) []string {
	if overrides == nil {
		return nil
	}
	model, count := gpuOf(overrides.Hardware)
	parts := []string{strings.ToLower(model), "", string(ptr.Deref(overrides.Precision, "")), string(ptr.Deref(overrides.Metric, ""))}
	if count > 0 {
		parts[1] = strconv.Itoa(int(count)) + "gpu"
	}
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// gpuOf returns model and number of the GPUs that hardware asks for.
func gpuOf(hardware *aimv1alpha1.AIMHardwareRequirements) (model string, count int32) {
	if hardware == nil || hardware.GPU == nil {
		return "", 0
	}
	return hardware.GPU.Model, hardware.GPU.Requests
}

const (
	domain = "aim.eai.amd.com/"
	// serviceLabel and serviceNameLabel carry the name of the service on its
	// children, also on those that several services share: of the first one.
	serviceLabel     = domain + "service"
	serviceNameLabel = domain + "service.name"
	// originLabel marks models that a service has made.
	originLabel = domain + "origin"
	// managedByLabel is on every child: the controller, on what serves the model the product.
	managedByLabel = "app.kubernetes.io/managed-by"
	componentLabel = "app.kubernetes.io/component"
	product        = "aim-engine"
	// PauseAnnotation pauses a service when its value is "true".
	PauseAnnotation = domain + "reconciliation-paused"
	// CleanupFinalizer keeps a service until its caches are cleaned up.
	CleanupFinalizer = domain + "template-cache-cleanup"
)

// childLabels are the labels of a child: its own and the name of the service, then
// those of the service that are passed on, then the ones that every object has which
// a service creates; the first wins. Labels of the product's domain are always
// passed on, others when the runtime config says so.
func childLabels(service *aimv1alpha1.AIMService, config *aimv1alpha1.AIMRuntimeConfigCommon, own map[string]string) map[string]string {
	out := createdLabels(service)
	maps.Copy(out, naming.MatchingLabels(service.Labels, slices.Concat(runtimeconfig.PropagatedLabels(config), []string{domain + "*"})...))
	out[serviceLabel] = serviceLabelValue(service)
	for key, value := range own {
		if value != "" {
			out[key] = value
		}
	}
	return out
}

// createdLabels are the labels of every object that a service creates.
func createdLabels(service *aimv1alpha1.AIMService) map[string]string {
	return map[string]string{managedByLabel: Name, serviceNameLabel: serviceLabelValue(service)}
}

// serviceLabelValue is the name of a service as its children carry it.
func serviceLabelValue(service *aimv1alpha1.AIMService) string {
	return naming.LabelValue(service.Name)
}
