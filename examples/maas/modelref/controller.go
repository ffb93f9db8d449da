// Package modelref reconciles MaaSModelRef: it finds the route and the endpoint of a model.
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
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// Reconciler reconciles MaaSModelRef.
type Reconciler struct {
	models.Childless[*maasv1alpha1.MaaSModelRef, *observation]
	models.Config
}

// New declares the controller of MaaSModelRef.
func New(config models.Config) *controller.Controller {
	return controller.New("maas-model-ref", &Reconciler{Config: config}).
		Reads(&gatewayv1.HTTPRoute{}).
		Reads(&gatewayv1.Gateway{}).
		Reads(&maasv1alpha1.ExternalModel{}).
		Reads(models.Kind(models.LLMInferenceService), controller.Optional).
		Writes(models.Kind(models.AuthPolicy), controller.Optional).
		Writes(models.Kind(models.TokenRateLimitPolicy), controller.Optional).
		Options(models.Options("maas.opendatahub.io/model-cleanup")).Build()
}

// observation is the observed state of a model.
type observation struct {
	models.Config
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
) *observation {
	obs := &observation{Config: r.Config, model: rc.Object}
	if !obs.model.DeletionTimestamp.IsZero() {
		obs.fetchPolicies(ctx, reader)
		return obs
	}
	if obs.model.Spec == nil {
		return obs
	}
	ref := obs.model.Spec.ModelRef
	obs.route = models.FetchRoute(ctx, reader, obs.model.Namespace, ref)
	obs.gateway = reconcile.Fetch(ctx, reader, r.Gateway, &gatewayv1.Gateway{})
	key := models.Key(obs.model.Namespace, ref.Name)
	if ref.Kind == maasv1alpha1.BackendExternalModel {
		obs.external = reconcile.Fetch(ctx, reader, key, &maasv1alpha1.ExternalModel{})
	} else {
		obs.llm = reconcile.Fetch(ctx, reader, key, models.Kind(models.LLMInferenceService))
	}
	return obs
}

func (obs *observation) fetchPolicies(ctx context.Context, reader reconcile.Reader) {
	labels := client.MatchingLabels{models.ModelLabel: obs.model.Name, models.ManagedBy: models.Manager}
	for _, list := range []*unstructured.UnstructuredList{models.List(models.AuthPolicy), models.List(models.TokenRateLimitPolicy)} {
		found := reconcile.FetchList(ctx, reader, list, client.InNamespace(obs.model.Namespace), labels)
		obs.policies = append(obs.policies, found.Value.Items...)
	}
}

// Leave blocks the deletion of the model until its policies are deleted. The groups of the operator delete theirs, because a model
// that is being deleted gets none. Leave deletes other policies with the product's labels, unless they have opted out or have a
// controller.
func (obs *observation) Leave() (plan reconcile.PlanResult) {
	for i := range obs.policies {
		policy := &obs.policies[i]
		switch {
		case policy.GetAnnotations()[models.OptOutAnnotation] == "false":
		case policy.GetAnnotations()[apply.GroupAnnotation] != "":
			plan.RequeueAfter = models.LeaveInterval
		case metav1.GetControllerOf(policy) == nil:
			plan.Delete(policy)
		}
	}
	return plan
}

// DecorateStatus writes the outcome into the status.
func (*Reconciler) DecorateStatus(
	status *maasv1alpha1.MaaSModelRefStatus, cm *conditions.Manager, _ reconcile.StatusContext[*maasv1alpha1.MaaSModelRef],
	obs *observation,
) {
	phase, reason, message := obs.outcome(status)
	status.Phase = phase
	cm.Set(conditions.Ready, conditions.Status(phase == maasv1alpha1.ModelReady), string(reason), message)
}
