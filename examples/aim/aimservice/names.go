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
	// hashLength is that of the product: the longest namespaces leave no room for more. The hash covers the full name, so the names of
	// two services in a namespace do not collide by truncation. If two hashes collide, the status of the second service reports it.
	hashLength = naming.HashLength(8)
	// predictorInfix separates the name of an InferenceService and its namespace in the host name that KServe derives. The host name is
	// one DNS label.
	predictorInfix = "-predictor-"
	// minInferenceServiceName is the minimum length for the name of an InferenceService.
	minInferenceServiceName = 10
)

// GenerateModelName returns the name of the model for an image. It returns an error if the image is not a valid reference.
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

// GenerateInferenceServiceName returns the name of a service's InferenceService. KServe derives the host
// {name}-predictor-{namespace} from it, which must start with a letter and have at most 63 characters. A namespace of more than 42
// characters leaves no room and is an error.
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

// routeName returns the name of a service's HTTPRoute. A valid name can be derived from any two strings.
func routeName(service *aimv1alpha1.AIMService) string {
	name, _ := GenerateHTTPRouteName(service.Name, service.Namespace)
	return name
}

// GenerateTemplateCacheName returns the name of a template's cache. All services of the namespace share it; in a dedicated mode each
// service has its own, identified by its UID.
func GenerateTemplateCacheName(
	templateName, namespace, serviceName, serviceIdentity string, cachingMode aimv1alpha1.AIMCachingMode,
) (string, error) {
	if cachingMode.Normalized() == aimv1alpha1.CachingModeDedicated {
		return naming.Derive([]string{templateName, serviceName}, hashLength, naming.HashInputs(serviceIdentity))
	}
	return naming.Derive([]string{templateName}, hashLength, naming.HashInputs(namespace))
}

// GenerateCustomModelName returns the name of the model for a custom one. The hash covers the image, and for each source the model,
// the location and the endpoint. The result is empty only if no name can be derived, which no valid spec causes.
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

// endpointOf returns the S3 endpoint of a source. Sources with different endpoints are different.
func endpointOf(source aimv1alpha1.AIMModelSource) string {
	for _, env := range source.Env {
		if env.Name == "AWS_ENDPOINT_URL" {
			return env.Value
		}
	}
	return ""
}

// derivedTemplateName returns the name of the template that a service derives from another one with its overrides, or the base
// without overrides. The hash covers the identity of the service, because the service owns the template and no other service may
// share it.
func derivedTemplateName(base string, overrides *aimv1alpha1.AIMServiceOverrides, identity types.UID) string {
	parts := overrideParts(overrides)
	if len(parts) == 0 {
		return base
	}
	name, _ := naming.Derive(append([]string{base, "ovr"}, parts...), hashLength, naming.HashInputs(identity)) // a name always exists
	return name
}

// overrideParts returns the overrides as parts of a name.
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

// gpuOf returns the model and number of the requested GPUs.
func gpuOf(hardware *aimv1alpha1.AIMHardwareRequirements) (model string, count int32) {
	if hardware == nil || hardware.GPU == nil {
		return "", 0
	}
	return hardware.GPU.Model, hardware.GPU.Requests
}

const (
	domain = "aim.eai.amd.com/"
	// serviceLabel and serviceNameLabel are set to the name of the service on its children. A child that several services share has the
	// name of the first one.
	serviceLabel     = domain + "service"
	serviceNameLabel = domain + "service.name"
	// originLabel marks models that the controller has created for a service.
	originLabel = domain + "origin"
	// managedByLabel is set on every child, to the controller; on the InferenceService and its route, to the product.
	managedByLabel = "app.kubernetes.io/managed-by"
	componentLabel = "app.kubernetes.io/component"
	product        = "aim-engine"
	// PauseAnnotation pauses a service when its value is "true".
	PauseAnnotation = domain + "reconciliation-paused"
	// CleanupFinalizer keeps a service until its caches are cleaned up.
	CleanupFinalizer = domain + "template-cache-cleanup"
)

// childLabels returns the labels of a child: its own and the name of the service, then the propagated labels of the service, then
// the labels of all created objects. The first value of a label takes precedence. Labels of the product's domain are always
// propagated, others if the runtime config selects them.
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

// createdLabels returns the labels of every object that is created for a service.
func createdLabels(service *aimv1alpha1.AIMService) map[string]string {
	return map[string]string{managedByLabel: Name, serviceNameLabel: serviceLabelValue(service)}
}

// serviceLabelValue returns the label value for the name of a service.
func serviceLabelValue(service *aimv1alpha1.AIMService) string {
	return naming.LabelValue(service.Name)
}
