// Package inspect reads from Kubernetes objects how they are, as components of package health.
//
//	component := inspect.Of(deployment)
//	component.Name, component.Dependency, component.Child = "Server", health.Downstream, true
//
// In a controller of package reconcile a FetchResult does the rest: fetched.Downstream("Server", inspect.Of).
//
// # When to use which
//
//	an object of any kind, or a list of pods    Of
//	a kind whose conditions have other names    ByConditions
//	pods with their logs and events             Pods
//	does the workload answer requests           Availability
//	how did a pod end that runs once            Run
//
// [Of] knows Deployment, StatefulSet, DaemonSet, ReplicaSet, Job, Pod, Service, PersistentVolumeClaim, HorizontalPodAutoscaler, HTTPRoute,
// CustomResourceDefinition, APIService and PodDisruptionBudget, and reads every other kind by the conditions of kstatus
// (https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md). The health of a route as one gateway controller
// reports it is in package routing.
//
// What an inspector finds wrong is an error without a cause: of a child it never blocks applying, see health.Blocking. Inspectors read
// the object alone and send no request.
package inspect
