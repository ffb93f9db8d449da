// Package webhook implements the validating webhook of the runtimes, with the messages of the product.
package webhook

import (
	"context"
	"net/http"

	"github.com/reconcilekit/reconcilekit/reconcile/admission"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	hooks "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1alpha1"
)

// Path is the path of the webhook for both kinds of runtimes.
const Path = "/validate-serving-modelmesh-io-v1alpha1-servingruntime"

// Service is the Service that the API server calls, with the name of the product.
const Service = "modelmesh-webhook-server-service"

// Handlers returns the handlers by path.
func Handlers(scheme *runtime.Scheme) map[string]http.Handler {
	return map[string]http.Handler{Path: handler(scheme)}
}

func handler(scheme *runtime.Scheme) *hooks.Webhook {
	namespaced := admission.Kinds[*v1alpha1.ServingRuntime]{
		Hub: func() *v1alpha1.ServingRuntime { return &v1alpha1.ServingRuntime{} }, Scheme: scheme,
	}
	cluster := admission.Kinds[*v1alpha1.ClusterServingRuntime]{
		Hub: func() *v1alpha1.ClusterServingRuntime { return &v1alpha1.ClusterServingRuntime{} }, Scheme: scheme,
	}
	group := v1alpha1.GroupVersion.Group
	return admission.ByKind(map[schema.GroupKind]*hooks.Webhook{
		{Group: group, Kind: "ServingRuntime"}: admission.Reviewing(namespaced,
			func(_ context.Context, r, _ *v1alpha1.ServingRuntime) (admission.Decision, error) {
				return review(r.Annotations, &r.Spec), nil
			}),
		{Group: group, Kind: "ClusterServingRuntime"}: admission.Reviewing(cluster,
			func(_ context.Context, r, _ *v1alpha1.ClusterServingRuntime) (admission.Decision, error) {
				return review(r.Annotations, &r.Spec), nil
			}),
	})
}

// review returns the answer for a runtime.
func review(annotations map[string]string, spec *v1alpha1.ServingRuntimeSpec) admission.Decision {
	if spec.MultiModel == nil || !*spec.MultiModel {
		return admission.Decision{Message: notOurs}
	}
	if problem := problemOf(annotations, spec.Replicas != nil); problem != "" {
		return admission.Decision{Code: http.StatusForbidden, Message: problem}
	}
	return admission.Decision{Message: passed}
}

// Describe returns the description of the webhook for the page.
func Describe() []dataflow.Webhook {
	return []dataflow.Webhook{{
		Name: "servingruntime.modelmesh-webhook-server.default", Type: "validating", Path: Path, FailurePolicy: "Fail",
		Service: "model-serving/" + Service, Source: "modelmesh/config/webhook/webhooks.yaml",
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{"serving.kserve.io"}, APIVersions: []string{"v1alpha1"},
				Resources: []string{"servingruntimes", "clusterservingruntimes"},
			},
		}},
	}}
}
