// Package models contains the code that the controllers share: models with their routes and generated policies, the settings of the
// operator, and the kinds of other projects.
package models

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
)

// Config contains the settings of the operator.
type Config struct {
	// Gateway is the gateway that serves all models.
	Gateway types.NamespacedName
	// AppNamespace is the namespace of the API of the platform.
	AppNamespace string
	// SubscriptionNamespace is the only namespace whose subscriptions, auth policies and tenants count.
	SubscriptionNamespace string
	// Manifests is the folder of the platform's kustomize overlay. If it is empty, the built-in overlay is used.
	Manifests string
	// Images replace the images of the overlay. The key is the parameter of the overlay.
	Images map[string]string
	// MetadataTTL and AuthzTTL are how long gateways cache answers, in seconds.
	MetadataTTL, AuthzTTL int64
}

// Labels and annotations of the product.
const (
	ManagedBy           = "app.kubernetes.io/managed-by"
	PartOf              = "app.kubernetes.io/part-of"
	Component           = "app.kubernetes.io/component"
	ModelLabel          = "maas.opendatahub.io/model"
	ModelNamespaceLabel = "maas.opendatahub.io/model-namespace"
	Manager             = "maas-controller"
	OptOutAnnotation    = "opendatahub.io/managed"
)

// Options returns the options of a controller whose owners get the finalizer.
func Options(finalizer string) controller.Options {
	return controller.Options{Apply: apply.Options{Finalizer: finalizer, OptOutAnnotation: OptOutAnnotation}}
}

// AddToScheme registers every typed kind that the operator reads or writes.
func AddToScheme(scheme *runtime.Scheme) error {
	all := runtime.NewSchemeBuilder(corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, networkingv1.AddToScheme,
		rbacv1.AddToScheme, gatewayv1.Install, maasv1alpha1.AddToScheme)
	return all.AddToScheme(scheme)
}
