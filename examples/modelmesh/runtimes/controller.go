package runtimes

import (
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	kserve "github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// Name is the name of the controller, and the field manager of its children.
const Name = "runtimes"

// New declares the controller of the runtimes. Its groups are namespaces.
func New(env settings.Environment, live *settings.Live) *controller.Controller {
	r := &Reconciler{env: env}
	b := controller.NewGroup(Name, r).
		Members(&kserve.ServingRuntime{}, func(o client.Object) []types.NamespacedName { return groupOf(o.GetNamespace()) }).
		Owns(&appsv1.Deployment{}).Owns(&autoscalingv2.HorizontalPodAutoscaler{}).Owns(&corev1.ConfigMap{}).
		Reads(&v1alpha1.Predictor{}, controller.WithPredicates(predicate.GenerationChangedPredicate{})). // ignores their status
		Reads(&corev1.PersistentVolumeClaim{})
	if env.Services {
		b.Reads(&v1beta1.InferenceService{}, controller.Optional,
			controller.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})))
	}
	if env.Cluster {
		b.Owns(&corev1.Secret{}) // the Secret of etcd, in each namespace but the operator's
	} else {
		b.Reads(&corev1.Secret{})
	}
	switch {
	case env.ClusterRuntimes && env.Cluster:
		b.Reads(&kserve.ClusterServingRuntime{}) // of each enabled namespace
	case env.ClusterRuntimes:
		b.Members(&kserve.ClusterServingRuntime{}, func(client.Object) []types.NamespacedName { return groupOf(env.Namespace) })
	}
	if env.Cluster {
		b.Members(&corev1.Namespace{}, func(o client.Object) []types.NamespacedName {
			if namespace, ok := o.(*corev1.Namespace); ok && env.Enabled(namespace) {
				return groupOf(namespace.Name)
			}
			return nil
		})
	}
	return live.Bind(b, func(readers *settings.Readers) { r.config = readers }).Build()
}

func groupOf(namespace string) []types.NamespacedName {
	return []types.NamespacedName{{Namespace: namespace, Name: Name}}
}
