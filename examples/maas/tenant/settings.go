package tenant

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"

	"github.com/reconcilekit/reconcilekit/layers"
	"github.com/reconcilekit/reconcilekit/manifests"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

const (
	apiName      = "maas-api"
	paramsName   = "maas-parameters"
	apiPolicy    = "maas-api-auth-policy"
	anyNamespace = "opendatahub" // in manifests, for the namespace of the API

	platformLabel   = "app.opendatahub.io/modelsasservice"
	configHash      = "app.opendatahub.io/maas-config-hash"
	tenantLabel     = "maas.opendatahub.io/tenant-name"
	tenantNamespace = "maas.opendatahub.io/tenant-namespace"
)

// settings are all that the platform depends on.
type settings struct {
	Tenant    types.NamespacedName
	App       string // the namespace of the API
	Gateway   types.NamespacedName
	Audience  string // empty: that of the overlay
	Images    map[string]string
	MaxDays   *int32
	OIDC      *maasv1alpha1.TenantExternalOIDC
	Telemetry *maasv1alpha1.TenantTelemetry
}

// params are those of the overlay that the settings decide.
func (s settings) params() map[string]string {
	params := layers.Maps(map[string]string{
		"app-namespace": s.App, "gateway-namespace": s.Gateway.Namespace, "gateway-name": s.Gateway.Name,
	}, s.Images)
	if s.Audience != "" {
		params["cluster-audience"] = s.Audience
	}
	if s.MaxDays != nil {
		params["api-key-max-expiration-days"] = strconv.Itoa(int(*s.MaxDays))
	}
	return params
}

// finish does what the overlay cannot say.
func (r *renderer) finish(s settings, objects []manifests.Object) ([]manifests.Object, error) {
	objects = slices.DeleteFunc(objects, func(o manifests.Object) bool { return o.GetAnnotations()[backend.OptOutAnnotation] == "false" })
	hash, guarded := "", s.OIDC == nil
	for _, object := range objects {
		s.place(object)
		if config, ok := object.(*corev1.ConfigMap); ok && config.Name == paramsName {
			sum := sha256.Sum256([]byte(linesOf(config.Data))) // the API starts anew with other parameters
			hash = hex.EncodeToString(sum[:])
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
		if deployment, ok := object.(*appsv1.Deployment); ok && deployment.Name == apiName {
			deployment.Spec.Template.Annotations = layers.Maps(map[string]string{configHash: hash}, deployment.Spec.Template.Annotations)
		}
	}
	return objects, err
}

// place moves an object to where it belongs: what the manifests have in the
// namespace that stands for the API's, and what guards the gateway.
func (s settings) place(object manifests.Object) {
	if object.GetNamespace() == anyNamespace {
		object.SetNamespace(s.App)
	}
	switch o := object.(type) {
	case *rbacv1.ClusterRoleBinding:
		s.placeSubjects(o.Subjects)
	case *rbacv1.RoleBinding:
		s.placeSubjects(o.Subjects)
	case *unstructured.Unstructured:
		switch o.GetName() {
		case "gateway-default-auth", "gateway-default-deny":
			o.SetNamespace(s.Gateway.Namespace)
			_ = unstructured.SetNestedField(o.Object, s.Gateway.Name, "spec", "targetRef", "name") // a decoded object has maps
		case "maas-api-backend-tls":
			o.SetNamespace(s.Gateway.Namespace)
		case apiPolicy:
			o.SetAnnotations(layers.Maps(map[string]string{backend.OptOutAnnotation: "false"}, o.GetAnnotations())) // for another operator
		}
	}
}

func (s settings) placeSubjects(subjects []rbacv1.Subject) {
	for i := range subjects {
		if subjects[i].Namespace == anyNamespace {
			subjects[i].Namespace = s.App
		}
	}
}

// mark puts the labels of the platform on, and on what cannot have an owner
// reference those that name the tenant.
func (s settings) mark(object manifests.Object) {
	labels := map[string]string{platformLabel: "true", backend.PartOf: "models-as-a-service"}
	if object.GetNamespace() != s.Tenant.Namespace {
		labels[tenantLabel], labels[tenantNamespace] = s.Tenant.Name, s.Tenant.Namespace
	}
	object.SetLabels(layers.Maps(labels, object.GetLabels()))
}
