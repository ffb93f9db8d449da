package migration

import (
	"context"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
)

type rcontext = reconcile.ReconcileContext[*v1.Website]

// observed is empty, because the plan depends only on the Website.
type observed struct{}

// after is the reconciler on the SDK. It no longer sets the label, the port and the variable for debugging.
type after struct{}

var _ reconcile.Reconciler[*v1.Website, observed, observed] = after{}

// FetchRemoteState reads nothing.
func (after) FetchRemoteState(context.Context, reconcile.Reader, rcontext) observed {
	return observed{}
}

// PlanResources plans the children under their existing names.
func (after) PlanResources(_ context.Context, rc rcontext, _ observed) (plan reconcile.PlanResult, _ error) {
	site, labels := rc.Object, map[string]string{"website": rc.Object.Name}
	named := metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}
	plan.Apply(&corev1.ConfigMap{ObjectMeta: named, Data: map[string]string{"index.html": site.Spec.Text}})
	plan.Apply(&corev1.Service{ObjectMeta: named, Spec: corev1.ServiceSpec{
		Selector: labels, Ports: []corev1.ServicePort{{Name: "http", Port: 80}},
	}})
	plan.Apply(&appsv1.Deployment{ObjectMeta: named, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1.29"}}},
		},
	}})
	return plan, nil
}

// setUpAfter adds the controller on the SDK, which takes over fields that were written under the former name.
func setUpAfter(mgr ctrl.Manager) error {
	return controller.New("website", after{}).Owns(&corev1.ConfigMap{}).Owns(&corev1.Service{}).Owns(&appsv1.Deployment{}).
		Options(controller.Options{FormerManagers: []string{former}}).Build().SetupWithManager(mgr)
}
