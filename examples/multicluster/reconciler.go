package main

import (
	"context"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type rcontext = reconcile.ReconcileContext[*v1.Website]

// observed is the observed state of the member.
type observed struct {
	deployment reconcile.FetchResult[*appsv1.Deployment]
	served     bool
}

type reconciler struct{}

var _ reconcile.Reconciler[*v1.Website, observed, observed] = reconciler{}

// served reports whether the website needs servers. With 0 replicas only its text is kept.
func served(site *v1.Website) bool { return site.Spec.Replicas == nil || *site.Spec.Replicas > 0 }

// FetchRemoteState reads the Deployment from the member, like every kind except Website.
func (reconciler) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc rcontext) observed {
	out := observed{served: served(rc.Object)}
	if out.served {
		out.deployment = reconcile.Fetch(ctx, r, client.ObjectKeyFromObject(rc.Object), &appsv1.Deployment{})
	}
	return out
}

// GetComponentHealth returns the health of the Deployment in the member.
func (o observed) GetComponentHealth(context.Context) []health.Component {
	if !o.served {
		return nil
	}
	return []health.Component{o.deployment.Downstream("Deployment", inspect.Of)}
}

// PlanResources lists the desired objects in the member. An owner reference would refer to an object that does not exist there.
func (reconciler) PlanResources(_ context.Context, rc rcontext, o observed) (plan reconcile.PlanResult, _ error) {
	site := rc.Object
	meta := metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}
	labels := map[string]string{"website": site.Name}

	plan.Apply(&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"index.html": site.Spec.Text}}, apply.Shared)
	if !o.served {
		return plan, nil
	}
	plan.Apply(&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Replicas: site.Spec.Replicas,
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "web", Image: "nginx:1.29", VolumeMounts: []corev1.VolumeMount{
				{Name: "text", MountPath: "/usr/share/nginx/html"},
			}}},
			Volumes: []corev1.Volume{{Name: "text", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: site.Name},
			}}}},
		}},
	}}, apply.Shared)
	return plan, nil
}
