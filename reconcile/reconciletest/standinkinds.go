package reconciletest

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
)

// StatefulSetsReady is a [StandIn] for the StatefulSet controller: every StatefulSet has all its replicas, updated and ready. With slow
// controllers, the Pods of a new StatefulSet are not ready at first.
func StatefulSetsReady(ctx context.Context, c client.Client) error {
	var list appsv1.StatefulSetList
	if err := c.List(ctx, &list); err != nil {
		return err
	}
	for i := range list.Items {
		set := &list.Items[i]
		replicas := int32(1) // the API server's default
		if set.Spec.Replicas != nil {
			replicas = *set.Spec.Replicas
		}
		status := appsv1.StatefulSetStatus{
			ObservedGeneration: set.Generation, CurrentRevision: set.Name + "-1", UpdateRevision: set.Name + "-1",
			Replicas: replicas, ReadyReplicas: replicas, CurrentReplicas: replicas, UpdatedReplicas: replicas, AvailableReplicas: replicas,
		}
		if cluster.SlowFrom(ctx) && set.Status.ObservedGeneration == 0 {
			status.ReadyReplicas, status.AvailableReplicas = 0, 0
		}
		if equality.Semantic.DeepEqual(set.Status, status) {
			continue
		}
		set.Status = status
		if err := c.Status().Update(ctx, set); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// JobsComplete is a [StandIn] for the Job controller: every Job that is not suspended and not being deleted completes at the time of its
// creation. With slow controllers, a new Job is active first.
func JobsComplete(ctx context.Context, c client.Client) error {
	var list batchv1.JobList
	if err := c.List(ctx, &list); err != nil {
		return err
	}
	for i := range list.Items {
		job := &list.Items[i]
		if job.Status.Succeeded > 0 || job.DeletionTimestamp != nil || job.Spec.Suspend != nil && *job.Spec.Suspend {
			continue
		}
		created := job.CreationTimestamp
		if cluster.SlowFrom(ctx) && job.Status.StartTime == nil {
			job.Status = batchv1.JobStatus{StartTime: &created, Active: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}}
		} else {
			job.Status = batchv1.JobStatus{
				StartTime: &created, CompletionTime: &created, Succeeded: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
				Conditions: []batchv1.JobCondition{
					{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue, LastTransitionTime: created},
					{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: created},
				},
			}
		}
		if err := c.Status().Update(ctx, job); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}
