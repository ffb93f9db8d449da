// Package inspect assesses the health of Kubernetes objects, as components of package health.
//
//	component := inspect.Of(deployment)
//	component.Name, component.Dependency, component.Child = "Server", health.Downstream, true
//
// In a controller of package reconcile, use a FetchResult: fetched.Downstream("Server", inspect.Of).
//
// # When to use which
//
//	an object of any kind, or a list of pods    Of
//	a kind with other condition types           ByConditions
//	pods with their logs and events             Pods
//	whether a workload serves requests          Availability
//	the outcome of a pod that runs once         Run
//
// [Of] supports Deployment, StatefulSet, DaemonSet, ReplicaSet, Job, Pod, Service, PersistentVolumeClaim, HorizontalPodAutoscaler,
// HTTPRoute, CustomResourceDefinition, APIService and PodDisruptionBudget, and assesses every other kind by the conditions of kstatus
// (https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md). Package routing assesses a route by the status of one
// gateway controller.
//
// The findings of an inspector are errors without a cause; those about a child never block applying, see health.Blocking. Inspectors read
// only the object and send no request.
package inspect
