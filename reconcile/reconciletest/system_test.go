package reconciletest_test

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// shop plans a Deployment, spec.count ConfigMaps, and a Service if the count is more than one.
type shop struct{}

type observed struct {
	deployment reconcile.FetchResult[*appsv1.Deployment]
}

func (o observed) GetComponentHealth(context.Context) []health.Component {
	return []health.Component{o.deployment.Downstream("Deployment", inspect.Of)}
}

func (shop) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*widget.Widget],
) observed {
	return observed{reconcile.Fetch(ctx, r, client.ObjectKeyFromObject(rc.Object), &appsv1.Deployment{})}
}

func (shop) PlanResources(
	_ context.Context, rc reconcile.ReconcileContext[*widget.Widget], _ observed,
) (plan reconcile.PlanResult, _ error) {
	labels := map[string]string{"app": rc.Object.Name}
	for i := range rc.Object.Spec.Count {
		plan.Apply(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", rc.Object.Name, i)},
			Data:       map[string]string{"message": rc.Object.Spec.Message},
		})
	}
	if rc.Object.Spec.Count > 1 {
		plan.Apply(&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: rc.Object.Name},
			Spec:       corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}},
		})
	}
	plan.Apply(&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: rc.Object.Name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "web", Image: "example.com/web:1",
					Env: []corev1.EnvVar{{Name: "MESSAGE", Value: rc.Object.Spec.Message}},
				}}},
			},
		},
	})
	return plan, nil
}

func widgetScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, widget.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return scheme
}

func shopSystem() reconciletest.System {
	return reconciletest.System{
		Setup: func(mgr manager.Manager) error {
			return controller.New("shop", shop{}).
				Owns(&appsv1.Deployment{}).Owns(&corev1.Service{}).Owns(&corev1.ConfigMap{}).Build().SetupWithManager(mgr)
		},
		Scheme: widgetScheme(),
		CRDs:   []*apiextensionsv1.CustomResourceDefinition{widget.CRD()},
		Owners: []client.Object{&widget.Widget{
			ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: widget.Spec{Count: 3, Message: "hello"},
		}},
		Change: func(owner client.Object) {
			w := owner.(*widget.Widget)
			w.Spec.Count, w.Spec.Message = 1, "good bye"
		},
		StandIns: []reconciletest.StandIn{reconciletest.DeploymentsAvailable},
	}
}
