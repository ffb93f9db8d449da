package inspect

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// Of inspects any typed or unstructured object with the inspector of its kind: Pod (and PodList), Deployment, StatefulSet, DaemonSet,
// ReplicaSet, Job, Service, PersistentVolumeClaim, HorizontalPodAutoscaler (v2), HTTPRoute, CustomResourceDefinition, APIService and
// PodDisruptionBudget. An object that is being deleted is never ready. Every other kind is assessed by the common conditions: Stalled,
// Failed, Degraded and Reconciling, which are failures while they are True, then Ready, else Available. A status or a condition of an
// older generation is Progressing. An object without any of these conditions is ready. Nil, also a nil pointer, is a missing downstream
// dependency.
//
// The caller sets the component's name and dependency. The type parameter is inferred, so that Of can be used as the inspector of any
// kind: fetched.Downstream("Deployment", inspect.Of).
func Of[O runtime.Object](obj O) health.Component { return of(obj) }

func of(obj runtime.Object) health.Component {
	if c, known := ofCore(obj); known {
		return c
	}
	if c, known := ofTyped(obj); known {
		return c
	}
	if u, ok := obj.(runtime.Unstructured); ok && !isNil(obj) {
		if c, known := ofUnstructured(u); known {
			return c
		}
	}
	r, absent := read(obj)
	if absent.Errors != nil {
		return absent
	}
	return r.health()
}

// ofCore inspects the kinds of the core group.
func ofCore(obj runtime.Object) (health.Component, bool) {
	switch o := obj.(type) {
	case *corev1.Pod:
		if o == nil {
			return Pods(nil, PodFacts{}), true
		}
		return Pods([]corev1.Pod{*o}, PodFacts{}), true
	case *corev1.PodList:
		if o == nil {
			return Pods(nil, PodFacts{}), true
		}
		return Pods(o.Items, PodFacts{}), true
	case *corev1.Service:
		return service(o), true
	case *corev1.PersistentVolumeClaim:
		return persistentVolumeClaim(o), true
	}
	return health.Component{}, false
}

// ofTyped inspects the kinds of the other groups.
func ofTyped(obj runtime.Object) (health.Component, bool) {
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return deployment(o), true
	case *appsv1.StatefulSet:
		return statefulSet(o), true
	case *appsv1.DaemonSet:
		return daemonSet(o), true
	case *appsv1.ReplicaSet:
		return replicaSet(o), true
	case *batchv1.Job:
		return job(o), true
	case *autoscalingv2.HorizontalPodAutoscaler:
		return horizontalPodAutoscaler(o), true
	case *gatewayv1.HTTPRoute:
		return httpRoute(o), true
	}
	return health.Component{}, false
}

// ofUnstructured converts an object of a known kind to its type and inspects it. Versions whose shape differs from the imported one are
// not supported.
func ofUnstructured(u runtime.Unstructured) (health.Component, bool) {
	gvk := u.GetObjectKind().GroupVersionKind()
	switch gvk.Group {
	case corev1.GroupName:
		return ofCoreUnstructured(u, gvk.Kind)
	case appsv1.GroupName:
		return ofAppsUnstructured(u, gvk.Kind)
	}
	switch gvk.GroupKind() {
	case schema.GroupKind{Group: batchv1.GroupName, Kind: "Job"}:
		return convert(u, job), true
	case schema.GroupKind{Group: autoscalingv2.GroupName, Kind: "HorizontalPodAutoscaler"}:
		if gvk.Version == autoscalingv2.SchemeGroupVersion.Version {
			return convert(u, horizontalPodAutoscaler), true
		}
	case schema.GroupKind{Group: gatewayv1.GroupName, Kind: "HTTPRoute"}:
		return convert(u, httpRoute), true
	}
	return health.Component{}, false
}

func ofCoreUnstructured(u runtime.Unstructured, kind string) (health.Component, bool) {
	switch kind {
	case "Pod":
		return convert(u, func(p *corev1.Pod) health.Component { return Pods([]corev1.Pod{*p}, PodFacts{}) }), true
	case "PodList":
		return convert(u, func(l *corev1.PodList) health.Component { return Pods(l.Items, PodFacts{}) }), true
	case "Service":
		return convert(u, service), true
	case "PersistentVolumeClaim":
		return convert(u, persistentVolumeClaim), true
	}
	return health.Component{}, false
}

func ofAppsUnstructured(u runtime.Unstructured, kind string) (health.Component, bool) {
	switch kind {
	case "Deployment":
		return convert(u, deployment), true
	case "StatefulSet":
		return convert(u, statefulSet), true
	case "DaemonSet":
		return convert(u, daemonSet), true
	case "ReplicaSet":
		return convert(u, replicaSet), true
	}
	return health.Component{}, false
}

// convert converts an unstructured object to a type and inspects it.
func convert[T any](u runtime.Unstructured, inspect func(*T) health.Component) health.Component {
	into := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.UnstructuredContent(), into); err != nil {
		return unreadable(u, err)
	}
	return inspect(into)
}
