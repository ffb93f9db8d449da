package inspect_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/health/inspect"
)

// Of inspects objects of any kind; a kind without its own inspector is judged by its conditions.
func ExampleOf() {
	c := inspect.Of(&corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}})
	fmt.Println(c.GetState(), c.GetReason())

	c = inspect.Of(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"generation": int64(2)},
		"status":   map[string]any{"observedGeneration": int64(1)},
	}})
	fmt.Println(c.GetState(), c.GetReason())
	// Output:
	// Pending LoadBalancerPending
	// Progressing GenerationNotObserved
}

// ByConditions checks conditions by name.
func ExampleByConditions() {
	gateway := &unstructured.Unstructured{Object: map[string]any{
		"kind": "Gateway", "status": map[string]any{"conditions": []any{
			map[string]any{"type": "Accepted", "status": "True"},
			map[string]any{"type": "Programmed", "status": "False", "reason": "AddressNotAssigned", "message": "no address"},
		}},
	}}
	c := inspect.ByConditions(gateway, "Accepted", "Programmed")
	fmt.Println(c.GetState(), c.GetReason(), c.GetMessage())
	// Output: Progressing AddressNotAssigned no address
}

// Pods finds the reason why a component does not work in its pods.
func ExamplePods() {
	p := corev1.Pod{}
	p.Status.Phase = corev1.PodPending
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:  "server",
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "manifest unknown"}},
	}}
	c := inspect.Pods([]corev1.Pod{p}, inspect.PodFacts{})
	fmt.Println(c.GetState(), c.GetReason(), c.GetMessage())
	// Output: Degraded ImageNotFound Container server: manifest unknown
}

// Availability checks that a Deployment can serve requests; the reason for a failure names the pod.
func ExampleAvailability() {
	pod := corev1.Pod{}
	pod.Name = "server-0"
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:  "server",
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 40s"}},
	}}
	gates := inspect.Availability{
		Deployment: &appsv1.Deployment{Status: appsv1.DeploymentStatus{UnavailableReplicas: 1}},
		Pods:       []corev1.Pod{pod},
	}
	c, _ := gates.Component()
	fmt.Println(c.GetState(), c.GetReason(), c.GetMessage())
	// Output:
	// NotAvailable DeploymentUnavailable Deployment is unavailable: pod server-0 has unready containers [server: {waiting: {reason: CrashLoopBackOff, message: back-off 40s}}]
}
