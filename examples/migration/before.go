package migration

import (
	"context"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
)

// former is the field manager of the existing operator: the name of its binary, or a client.FieldOwner as here.
const former = "website-operator"

// before is the reconciler before the migration.
type before struct {
	client.Client
	scheme *runtime.Scheme
}

// Reconcile creates and updates the children of a Website.
func (r *before) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	site := &v1.Website{}
	if err := r.Get(ctx, request.NamespacedName, site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	labels := map[string]string{"website": site.Name}
	named := metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}

	text := &corev1.ConfigMap{ObjectMeta: named}
	_, textErr := controllerutil.CreateOrUpdate(ctx, r, text, func() error {
		metav1.SetMetaDataLabel(&text.ObjectMeta, "made-by", "hand")
		text.Data = map[string]string{"index.html": site.Spec.Text}
		return controllerutil.SetControllerReference(site, text, r.scheme)
	})
	service := &corev1.Service{ObjectMeta: named}
	_, serviceErr := controllerutil.CreateOrUpdate(ctx, r, service, func() error {
		service.Spec.Selector = labels
		service.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80}, {Name: "debug", Port: 8080}}
		return controllerutil.SetControllerReference(site, service, r.scheme)
	})
	deployment := &appsv1.Deployment{ObjectMeta: named}
	_, deploymentErr := controllerutil.CreateOrUpdate(ctx, r, deployment, func() error {
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		deployment.Spec.Template.Spec.Containers = []corev1.Container{{
			Name: "web", Image: "nginx:1.29", Env: []corev1.EnvVar{{Name: "DEBUG", Value: "1"}},
		}}
		return controllerutil.SetControllerReference(site, deployment, r.scheme)
	})
	if err := errors.Join(textErr, serviceErr, deploymentErr); err != nil {
		return ctrl.Result{}, err
	}
	changed := meta.SetStatusCondition(
		&site.Status.Conditions, metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "Made"},
	)
	if !changed {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.Status().Update(ctx, site)
}

// setUpBefore adds the controller before the migration.
func setUpBefore(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&v1.Website{}).Owns(&corev1.ConfigMap{}).Owns(&corev1.Service{}).Owns(&appsv1.Deployment{}).
		Complete(&before{client.WithFieldOwner(mgr.GetClient(), former), mgr.GetScheme()})
}
