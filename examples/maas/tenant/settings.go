package tenant

import (
	"errors"
	"slices"
	"strconv"

	"github.com/reconcilekit/reconcilekit/layers"
	"github.com/reconcilekit/reconcilekit/layers/podtemplate"
	"github.com/reconcilekit/reconcilekit/manifests"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

const (
	apiName      = "maas-api"
	paramsName   = "maas-parameters"
	apiPolicy    = "maas-api-auth-policy"
	anyNamespace = "opendatahub" // in the manifests, the placeholder for the namespace of the API

	platformLabel   = "app.opendatahub.io/modelsasservice"
	configHash      = "app.opendatahub.io/maas-config-hash"
	tenantLabel     = "maas.opendatahub.io/tenant-name"
	tenantNamespace = "maas.opendatahub.io/tenant-namespace"
)

// settings contains all inputs of the platform.
type settings struct {
	Tenant    types.NamespacedName
	App       string // the namespace of the API
	Gateway   types.NamespacedName
	Audience  string // if empty, that of the overlay
	Images    map[string]string
	MaxDays   *int32
	OIDC      *maasv1alpha1.TenantExternalOIDC
	Telemetry *maasv1alpha1.TenantTelemetry
}

// params returns the parameters of the overlay that depend on the settings.
func (s settings) params() map[string]string {
	params := layers.Maps(map[string]string{
		"app-namespace": s.App, "gateway-namespace": s.Gateway.Namespace, "gateway-name": s.Gateway.Name,
		"subscription-namespace": s.Tenant.Namespace,
	}, s.Images)
	if s.Audience != "" {
		params["cluster-audience"] = s.Audience
	}
	if s.MaxDays != nil {
		params["api-key-max-expiration-days"] = strconv.Itoa(int(*s.MaxDays))
	}
	return params
}

// finish makes the changes that the overlay cannot express.
func (r *renderer) finish(s settings, objects []manifests.Object) ([]manifests.Object, error) {
	objects = slices.DeleteFunc(objects, func(o manifests.Object) bool { return o.GetAnnotations()[models.OptOutAnnotation] == "false" })
	var params podtemplate.Config
	guarded := s.OIDC == nil
	for _, object := range objects {
		if err := s.place(object); err != nil {
			return nil, err
		}
		if kindOf(object) == "ConfigMap" && object.GetName() == paramsName {
			err := manifests.Change(object, func(config *corev1.ConfigMap) { params = podtemplate.ConfigMap(config) })
			if err != nil {
				return nil, err
			}
		}
		if policy, ok := object.(*unstructured.Unstructured); ok && policy.GetName() == apiPolicy && s.OIDC != nil {
			guarded = true
			if err := r.addProvider(s, policy); err != nil {
				return nil, err
			}
		}
	}
	if !guarded {
		return nil, errors.New("spec.externalOIDC is set, but the manifests have no AuthPolicy " + apiPolicy + " that could use it")
	}
	telemetry, err := r.telemetry(s)
	objects = append(objects, telemetry...)
	for _, object := range objects {
		s.mark(object)
		if kindOf(object) == "Deployment" && object.GetName() == apiName {
			err = errors.Join(err, manifests.Change(object, func(d *appsv1.Deployment) {
				podtemplate.RestartOn(&d.Spec.Template, configHash, params)
			}))
		}
	}
	return objects, err
}

func kindOf(object manifests.Object) string { return object.GetObjectKind().GroupVersionKind().Kind }

// place sets the namespace of an object: that of the API for objects in the placeholder namespace, and that of the gateway for its
// policies.
func (s settings) place(object manifests.Object) error {
	if object.GetNamespace() == anyNamespace {
		object.SetNamespace(s.App)
	}
	switch kindOf(object) {
	case "ClusterRoleBinding":
		return manifests.Change(object, func(b *rbacv1.ClusterRoleBinding) { s.placeSubjects(b.Subjects) })
	case "RoleBinding":
		return manifests.Change(object, func(b *rbacv1.RoleBinding) { s.placeSubjects(b.Subjects) })
	}
	switch object.GetName() {
	case "gateway-default-auth", "gateway-default-deny":
		object.SetNamespace(s.Gateway.Namespace)
		if o, ok := object.(*unstructured.Unstructured); ok {
			return unstructured.SetNestedField(o.Object, s.Gateway.Name, "spec", "targetRef", "name")
		}
	case "maas-api-backend-tls":
		object.SetNamespace(s.Gateway.Namespace)
	case apiPolicy:
		object.SetAnnotations(layers.Maps(map[string]string{models.OptOutAnnotation: "false"}, object.GetAnnotations())) // for other operators
	}
	return nil
}

func (s settings) placeSubjects(subjects []rbacv1.Subject) {
	for i := range subjects {
		if subjects[i].Namespace == anyNamespace {
			subjects[i].Namespace = s.App
		}
	}
}

// mark sets the labels of the platform. Objects that cannot have an owner reference also get the labels that name the tenant.
func (s settings) mark(object manifests.Object) {
	labels := map[string]string{platformLabel: "true", models.PartOf: "models-as-a-service"}
	if object.GetNamespace() != s.Tenant.Namespace {
		labels[tenantLabel], labels[tenantNamespace] = s.Tenant.Name, s.Tenant.Namespace
	}
	object.SetLabels(layers.Maps(labels, object.GetLabels()))
}
