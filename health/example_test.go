package health_test

import (
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// A pass observes the parts of the owner and folds them into conditions, one state and what comes next.
func ExampleAssessor() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	m := conditions.NewManager(nil, 1, now)
	a := health.NewAssessor(m, health.Options{Now: now})

	server := health.Deployment(&appsv1.Deployment{Status: appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1}})
	server.Name, server.Dependency, server.Child = "Server", health.Downstream, true
	database := health.Component{
		Name: "Database", Dependency: health.Upstream,
		Errors: []error{health.NewError(health.MissingUpstreamDependency, "SecretNotFound", `create the Secret "db" with the key url`, nil)},
	}
	a.Observe(server, database)
	assessment := a.Summarize()

	for _, c := range m.Conditions() {
		fmt.Printf("%s=%s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	fmt.Println("state", assessment.State, "| retry", assessment.Retry, "| blocking", len(health.Blocking([]health.Component{server, database})))
	// Output:
	// Ready=False ReferenceNotFound: Referenced resource not found
	// ConfigValid=False ReferenceNotFound: Referenced resource not found
	// DatabaseReady=False SecretNotFound: create the Secret "db" with the key url
	// ServerReady=False ReplicasUnavailable: 0 of 1 replicas are available
	// state Failed | retry <nil> | blocking 1
}

// While something cannot be reached, conditions stay as they are for the grace period; the pass asks to come back at its end.
func ExampleOptions_grace() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	m := conditions.NewManager(nil, 1, now)
	a := health.NewAssessor(m, health.Options{})
	a.Observe(health.Component{Name: "Database", State: health.Ready, Reason: "Connected"})
	a.Summarize()

	m = conditions.NewManager(m.Conditions(), 1, now.Add(time.Minute))
	a = health.NewAssessor(m, health.Options{Grace: 30 * time.Second})
	down := health.NewError(health.Infrastructure, "Unreachable", "the database does not answer", nil)
	a.Observe(health.Component{Name: "Database", Dependency: health.Upstream, Errors: []error{down}})
	assessment := a.Summarize()

	database, _ := m.Get("DatabaseReady")
	fmt.Println(database.Status, database.Reason, "| again in", assessment.RequeueAfter, "| retry", assessment.Retry)
	// Output: True Connected | again in 30s | retry Unreachable: the database does not answer
}

// An error keeps the category that it was given, whatever is wrapped around it or caused it.
func ExampleCategorize() {
	known := health.NewError(health.Auth, "TokenExpired", "renew the token", errors.New("401"))
	e := health.Categorize(fmt.Errorf("list models: %w", known))
	fmt.Println(e.Category, e.Reason)
	e = health.Categorize(errors.New("boom"))
	fmt.Println(e.Category, e.Reason, e.Message)
	// Output:
	// Auth TokenExpired
	// Unknown UnknownError boom
}

// What an inspector finds wrong with a child never blocks applying, or the fix could not reach it.
func ExampleBlocking() {
	bad := health.NewError(health.InvalidSpec, "PodFailed", "exit code 1", nil)
	fmt.Println(len(health.Blocking([]health.Component{{Name: "Settings", Errors: []error{bad}}})))
	fmt.Println(len(health.Blocking([]health.Component{{Name: "Server", Child: true, Errors: []error{bad}}})))
	// Output:
	// 1
	// 0
}

// Of inspects objects of any kind; without an inspector of its own a kind is read by its conditions.
func ExampleOf() {
	c := health.Of(&corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}})
	fmt.Println(c.GetState(), c.GetReason())

	c = health.Of(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"generation": int64(2)},
		"status":   map[string]any{"observedGeneration": int64(1)},
	}})
	fmt.Println(c.GetState(), c.GetReason())
	// Output:
	// Pending LoadBalancerPending
	// Progressing GenerationNotObserved
}

// ByConditions asks for conditions by name.
func ExampleByConditions() {
	gateway := &unstructured.Unstructured{Object: map[string]any{
		"kind": "Gateway", "status": map[string]any{"conditions": []any{
			map[string]any{"type": "Accepted", "status": "True"},
			map[string]any{"type": "Programmed", "status": "False", "reason": "AddressNotAssigned", "message": "no address"},
		}},
	}}
	c := health.ByConditions(gateway, "Accepted", "Programmed")
	fmt.Println(c.GetState(), c.GetReason(), c.GetMessage())
	// Output: Progressing AddressNotAssigned no address
}

// Pods tells from the pods of a component why it does not work.
func ExamplePods() {
	p := corev1.Pod{}
	p.Status.Phase = corev1.PodPending
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:  "server",
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "manifest unknown"}},
	}}
	c := health.Pods([]corev1.Pod{p})
	fmt.Println(c.GetState(), c.GetReason(), c.GetMessage())
	// Output: Degraded ImageNotFound Container server: manifest unknown
}

// ClassifyLog finds the line of a log that tells why something failed.
func ExampleClassifyLog() {
	class, line := health.ClassifyLog("starting\n2026-01-01T12:00:00Z write /data/x: no space left on device\nbye")
	fmt.Println(class, "|", line)
	// Output: StorageFull | write /data/x: no space left on device
}

// Worst is the state of a whole.
func ExampleWorst() {
	fmt.Println(health.Worst(health.Ready, health.Degraded, health.Pending))
	// Output: Degraded
}
