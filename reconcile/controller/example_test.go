package controller_test

import (
	"context"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

func exampleScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	_ = clientscheme.AddToScheme(scheme)
	_ = widget.AddToScheme(scheme)
	return scheme
}

// counting is a reconciler that sets the domain's part of a widget's status.
type counting struct{ idle }

var _ reconcile.StatusDecorator[widget.Status, idleState] = counting{}

func (counting) DecorateStatus(status *widget.Status, _ *conditions.Manager, _ idleState) {
	status.Count++
}

// The builder infers its types from the reconciler, and finds its phases. A main function goes on with
// SetupWithManager(mgr).
func ExampleNew() {
	widgets := controller.New("widget", counting{}).
		Owns(&corev1.ConfigMap{}).
		Reads(&corev1.Secret{})
	description, err := widgets.Describe(exampleScheme())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for _, watch := range description.Watches {
		fmt.Println(watch.Type, watch.GVK)
	}
	// Output:
	// For test.reconcilekit.dev/v1/Widget
	// Owns /v1/ConfigMap
	// Watches /v1/Secret
}

// library is a reconciler of a singleton that plans nothing.
type library struct{}

func (library) FetchRemoteState(context.Context, reconcile.Reader, reconcile.ReconcileContext[*controller.Group]) int {
	return 0
}

func (library) ComposeState(context.Context, reconcile.ReconcileContext[*controller.Group], int) idleState {
	return idleState{}
}

func (library) PlanResources(context.Context, reconcile.ReconcileContext[*controller.Group], idleState) (reconcile.PlanResult, error) {
	return reconcile.PlanResult{}, nil
}

// A singleton has no object that asks for it. What it is made of comes from the environment of the operator and from what
// it reads, here the Secrets with a label.
func ExampleNewSingleton() {
	books := controller.NewSingleton("library", library{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		Reads(&corev1.Secret{})
	description, err := books.Describe(exampleScheme())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println("its key:", controller.SingletonKey("library").Name)
	for _, watch := range description.Watches {
		fmt.Println(watch.Type, watch.GVK)
	}
	// Output:
	// its key: library
	// Owns /v1/Service
	// Owns apps/v1/Deployment
	// Watches /v1/Secret
}

// A main function prints the page of its operator without a cluster when it is asked to describe itself.
func ExampleNewPage() {
	widgets := controller.New("widget", idle{}).Owns(&corev1.ConfigMap{})
	page, err := controller.NewPage("widget-operator", exampleScheme(), widgets)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Print(page.Mermaid())
	for _, rule := range page.Rules() {
		fmt.Println(rule.Resources, rule.Verbs)
	}
	// Output:
	// sequenceDiagram
	//     %% Dataflow of widget-operator
	//
	//     participant KubernetesAPI as Kubernetes API
	//     participant widget_operator as widget-operator
	//
	//     KubernetesAPI->>+widget_operator: Watch Widget (reconcile)
	//     widget_operator->>KubernetesAPI: Create/Update ConfigMap
	//
	//     Note over KubernetesAPI: Defined CRDs
	//     Note right of KubernetesAPI: Widget (test.reconcilekit.dev/v1)
	// [configmaps] [get list watch create patch delete]
	// [events] [create patch]
	// [widgets] [get list watch patch]
	// [widgets/finalizers] [update]
	// [widgets/status] [patch]
}

// Secrets are cached by a selector, so that no informer holds all of them.
func ExampleCacheOptions() {
	widgets := controller.New("widget", idle{}).
		Reads(&corev1.Secret{}, controller.Filter(labels.SelectorFromSet(labels.Set{"app": "widget"})))
	options, err := controller.CacheOptions(exampleScheme(), widgets)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for object, by := range options.ByObject {
		fmt.Printf("%T where %s\n", object, by.Label)
	}
	// Output:
	// *v1.Secret where app=widget
}

// A phase can tell a missing object from a missing kind.
func ExampleAbsentError() {
	var err error = &controller.AbsentError{
		GVK: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}, Name: "g",
	}
	fmt.Println(apierrors.IsNotFound(err), controller.IsAbsent(err))
	fmt.Println(err)
	// Output:
	// true true
	// example.com/v1/Gadget "g" not found: the kind is not installed in the cluster
}

// A read of a kind that was forgotten says what to add.
func ExampleUndeclaredError() {
	err := &controller.UndeclaredError{
		Controller: "widget", GVK: corev1.SchemeGroupVersion.WithKind("Secret"), Declaration: "Reads(&v1.Secret{})",
	}
	fmt.Println(err)
	// Output:
	// /v1/Secret is not declared: add Reads(&v1.Secret{}) to the builder of controller "widget"
}

// Metadata declares and reads a kind without its content.
func ExampleMetadata() {
	fetch := func(ctx context.Context, r reconcile.Reader) (exists bool, err error) {
		secret := controller.Metadata(corev1.SchemeGroupVersion.WithKind("Secret"))
		result := reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: "default", Name: "token"}, secret)
		return result.OK(), client.IgnoreNotFound(result.Error)
	}
	widgets := controller.New("widget", idle{}).Reads(controller.Metadata(corev1.SchemeGroupVersion.WithKind("Secret")))
	description, err := widgets.Describe(exampleScheme())
	_ = fetch // what a FetchRemoteState does
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println(description.Access[1].GVK, description.Access[1].Cache)
	// Output:
	// /v1/Secret metadata
}
