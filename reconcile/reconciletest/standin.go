package reconciletest

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
)

// DeploymentsAvailable is a [StandIn] for the controllers of Deployments and their pods: every Deployment immediately has all its
// replicas, and is Available. With slow stand-ins, the pods of a new Deployment are not ready at first.
func DeploymentsAvailable(ctx context.Context, c client.Client) error {
	var list appsv1.DeploymentList
	if err := c.List(ctx, &list); err != nil {
		return err
	}
	for i := range list.Items {
		d := &list.Items[i]
		replicas := int32(1) // the API server's default
		if d.Spec.Replicas != nil {
			replicas = *d.Spec.Replicas
		}
		status := appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation,
			Replicas:           replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
			},
		}
		if cluster.SlowFrom(ctx) && d.Status.ObservedGeneration == 0 && replicas > 0 {
			status.ReadyReplicas, status.AvailableReplicas, status.UnavailableReplicas = 0, 0, replicas
			status.Conditions[0].Status, status.Conditions[0].Reason = corev1.ConditionFalse, "MinimumReplicasUnavailable"
		}
		if equality.Semantic.DeepEqual(d.Status, status) {
			continue
		}
		d.Status = status
		if err := c.Status().Update(ctx, d); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}
