// Package modelref finds the route and the endpoint of a model.
package modelref

import (
	"context"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

// Reconciler of MaaSModelRef.
type Reconciler struct {
	backend.Childless[*maasv1alpha1.MaaSModelRef, *world]
	backend.Config
}

// New declares the controller of MaaSModelRef.
func New(config backend.Config) *controller.Controller {
	return controller.New("maas-model-ref", &Reconciler{Config: config}).
		Reads(&gatewayv1.HTTPRoute{}).
		Reads(&gatewayv1.Gateway{}).
		Reads(&maasv1alpha1.ExternalModel{}).
		Reads(backend.Kind(backend.LLMInferenceService), controller.Optional).
		Writes(backend.Kind(backend.AuthPolicy), controller.Optional).
		Writes(backend.Kind(backend.TokenRateLimitPolicy), controller.Optional).
		Options(backend.Options("maas.opendatahub.io/model-cleanup")).Build()
}

// world is what is known of a model.
type world struct {
	backend.Config
	model    *maasv1alpha1.MaaSModelRef
	route    reconcile.FetchResult[*gatewayv1.HTTPRoute]
	gateway  reconcile.FetchResult[*gatewayv1.Gateway]
	external reconcile.FetchResult[*maasv1alpha1.ExternalModel]
	llm      reconcile.FetchResult[*unstructured.Unstructured]
	policies []unstructured.Unstructured // of a model that is being deleted
}

// FetchRemoteState reads the backend, its route and the gateway.
func (r *Reconciler) FetchRemoteState(
	ctx context.Context, reader reconcile.Reader, rc reconcile.ReconcileContext[*maasv1alpha1.MaaSModelRef],
) *world {
	w := &world{Config: r.Config, model: rc.Object}
	if !w.model.DeletionTimestamp.IsZero() {
		w.fetchPolicies(ctx, reader)
		return w
	}
	if w.model.Spec == nil {
		return w
	}
	ref := w.model.Spec.ModelRef
	w.route = backend.FetchRoute(ctx, reader, w.model.Namespace, ref)
	w.gateway = reconcile.Fetch(ctx, reader, r.Gateway, &gatewayv1.Gateway{})
	key := backend.Key(w.model.Namespace, ref.Name)
	if ref.Kind == maasv1alpha1.BackendExternalModel {
		w.external = reconcile.Fetch(ctx, reader, key, &maasv1alpha1.ExternalModel{})
	} else {
		w.llm = reconcile.Fetch(ctx, reader, key, backend.Kind(backend.LLMInferenceService))
	}
	return w
}

func (w *world) fetchPolicies(ctx context.Context, reader reconcile.Reader) {
	labels := client.MatchingLabels{backend.ModelLabel: w.model.Name, backend.ManagedBy: backend.Manager}
	for _, list := range []*unstructured.UnstructuredList{backend.List(backend.AuthPolicy), backend.List(backend.TokenRateLimitPolicy)} {
		found := reconcile.FetchList(ctx, reader, list, client.InNamespace(w.model.Namespace), labels)
		w.policies = append(w.policies, found.Value.Items...)
	}
}

// Leave lets the model go when the policies on it are gone. Those of the
// operator's groups go by themselves, as a model that is being deleted has none;
// others with the product's labels are deleted, save those that have opted out
// or that somebody controls.
func (w *world) Leave() (plan reconcile.PlanResult) {
	for i := range w.policies {
		policy := &w.policies[i]
		switch {
		case policy.GetAnnotations()[backend.OptOutAnnotation] == "false":
		case policy.GetAnnotations()[apply.GroupAnnotation] != "":
			plan.RequeueAfter = backend.Look
		case metav1.GetControllerOf(policy) == nil:
			plan.Delete(policy)
		}
	}
	return plan
}

// DecorateStatus sets the outcome.
func (*Reconciler) DecorateStatus(status *maasv1alpha1.MaaSModelRefStatus, cm *conditions.Manager, _ reconcile.StatusContext[*maasv1alpha1.MaaSModelRef], w *world) {
	phase, reason, message := w.outcome(status)
	status.Phase = phase
	cm.Set(conditions.Ready, conditions.Status(phase == maasv1alpha1.ModelReady), string(reason), message)
}
