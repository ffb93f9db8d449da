// Command quickstart is a complete operator: a Website becomes a ConfigMap with its text, a Deployment that serves it, and a
// Service.
package main

import (
	"context"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/operator"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
)

//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .

// plan lists the desired objects of a Website. A child that is no longer listed is deleted. The engine reports the health of the
// children in the status: DeploymentReady and ServiceReady, and Ready for all of them.
func plan(_ context.Context, rc reconcile.ReconcileContext[*v1.Website]) (plan reconcile.PlanResult, _ error) {
	site := rc.Object
	meta := metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}
	labels := map[string]string{"website": site.Name}

	plan.Apply(&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"index.html": site.Spec.Text}})
	plan.Apply(&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
		Selector: labels, Ports: []corev1.ServicePort{{Port: 80}},
	}})
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
	}})
	return plan, nil
}

// website declares the operator. The type of plan defines the reconciled kind.
func website() operator.Operator {
	return operator.Operator{
		Name:        "quickstart",
		LeaseName:   "quickstart.example.com",
		AddToScheme: []func(*runtime.Scheme) error{v1.AddToScheme},
		Controllers: []*controller.Controller{controller.Func("quickstart", plan).
			Owns(&corev1.ConfigMap{}).
			Owns(&corev1.Service{}).
			Owns(&appsv1.Deployment{}).Build()},
	}
}

func main() { website().Main() }
