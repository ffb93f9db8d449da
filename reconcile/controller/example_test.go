package controller_test

import (
	"context"
	"fmt"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

func exampleScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	_ = clientscheme.AddToScheme(scheme)
	return scheme
}

// backups reconciles PersistentVolumeClaims. Each gets a ConfigMap with the location of its backup.
type backups struct{}

var _ reconcile.Reconciler[*corev1.PersistentVolumeClaim, bucket, bucket] = backups{}

// bucket is the remote state.
type bucket = reconcile.FetchResult[*corev1.Secret]

// FetchRemoteState reads the Secret with the account for the backup.
func (backups) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*corev1.PersistentVolumeClaim]) bucket {
	return reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: rc.Object.Namespace, Name: "backup-account"}, &corev1.Secret{})
}

// PlanResources plans the ConfigMap. Without the account, it leaves the ConfigMap unchanged.
func (backups) PlanResources(
	_ context.Context, rc reconcile.ReconcileContext[*corev1.PersistentVolumeClaim], a bucket,
) (plan reconcile.PlanResult, _ error) {
	place := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: rc.Object.Namespace, Name: rc.Object.Name + "-backup"}}
	if !a.OK() {
		plan.Keep(place)
		return plan, a.Failure()
	}
	place.Data = map[string]string{"bucket": string(a.Value.Data["bucket"])}
	plan.Apply(place)
	plan.RequeueAfter = 24 * time.Hour
	return plan, nil
}

// The builder infers its type parameters and phases from the reconciler. A main function then calls
// SetupWithManager(mgr).
func ExampleNew() {
	claims := controller.New("backup", backups{}).
		Owns(&corev1.ConfigMap{}).
		Reads(&corev1.Secret{}).Build()
	description, err := claims.Describe(exampleScheme())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for _, watch := range description.Watches {
		fmt.Println(watch.Type, watch.GVK)
	}
	// Output:
	// For /v1/PersistentVolumeClaim
	// Owns /v1/ConfigMap
	// Watches /v1/Secret
}

// planBudget plans a PodDisruptionBudget for the Pods of a Deployment.
func planBudget(_ context.Context, rc reconcile.ReconcileContext[*appsv1.Deployment]) (plan reconcile.PlanResult, _ error) {
	one := intstr.FromInt32(1)
	plan.Apply(&policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: rc.Object.Namespace, Name: rc.Object.Name},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one, Selector: rc.Object.Spec.Selector},
	})
	return plan, nil
}

// A controller that reads only its owner can be one function. Its signature determines the type of the owner.
func ExampleFunc() {
	budgets := controller.Func("budget", planBudget).
		Owns(&policyv1.PodDisruptionBudget{}).Build()
	description, err := budgets.Describe(exampleScheme())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for _, watch := range description.Watches {
		fmt.Println(watch.Type, watch.GVK)
	}
	// Output:
	// For apps/v1/Deployment
	// Owns policy/v1/PodDisruptionBudget
}

// A filter selects the owners at the API server. The option Conditions omits the condition Ready.
func ExampleBuilder_Owners() {
	budgets := controller.Func("budget", planBudget).
		Owners(controller.Filter(client.MatchingLabels{"example.com/team": "shop"})).
		Owns(&policyv1.PodDisruptionBudget{}).
		Options(controller.Options{Conditions: func(of string) bool { return of != conditions.Ready }}).
		Build()
	description, err := budgets.Describe(exampleScheme())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println(description.Watches[0].GVK, description.Owners)
	// Output:
	// apps/v1/Deployment example.com/team=shop
}

// library is a reconciler of a singleton that plans nothing.
type library struct{}

func (library) FetchRemoteState(context.Context, reconcile.Reader, reconcile.ReconcileContext[*controller.Group]) struct{} {
	return struct{}{}
}

func (library) PlanResources(context.Context, reconcile.ReconcileContext[*controller.Group], struct{}) (reconcile.PlanResult, error) {
	return reconcile.PlanResult{}, nil
}

// A singleton has no owner object. Its input is the configuration of the operator and the objects that
// it reads, here the Secrets with a label.
func ExampleNewSingleton() {
	books := controller.NewSingleton("library", library{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		Reads(&corev1.Secret{}).Build()
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

// A main function can print the page of its operator without a cluster.
func ExampleNewPage() {
	claims := controller.New("backup", backups{}).Owns(&corev1.ConfigMap{}).Reads(&corev1.Secret{}).Build()
	page, err := controller.NewPage("backup-operator", exampleScheme(), claims)
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
	//     %% Dataflow of backup-operator
	//
	//     participant KubernetesAPI as Kubernetes API
	//     participant backup_operator as backup-operator
	//
	//     KubernetesAPI->>+backup_operator: Watch PersistentVolumeClaim (reconcile)
	//     backup_operator->>KubernetesAPI: Create/Update ConfigMap
	//     KubernetesAPI-->>+backup_operator: Watch Secret (informer)
	// [configmaps] [get list watch create patch delete]
	// [persistentvolumeclaims] [get list watch patch]
	// [persistentvolumeclaims/finalizers] [update]
	// [persistentvolumeclaims/status] [patch]
	// [secrets] [list watch]
	// [events] [create patch]
}

// The cache lists Secrets with a selector, so that it does not contain all Secrets.
func ExampleCacheOptions() {
	claims := controller.New("backup", backups{}).
		Reads(&corev1.Secret{}, controller.Filter(client.MatchingLabels{"app": "backup"})).Build()
	options, err := controller.CacheOptions(exampleScheme(), claims)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for object, by := range options.ByObject {
		fmt.Printf("%T where %s\n", object, by.Label)
	}
	// Output:
	// *v1.Secret where app=backup
}

// A phase can distinguish a missing object from a missing kind.
func ExampleAbsentError() {
	var err error = &controller.AbsentError{
		GVK: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}, Name: "g",
	}
	fmt.Println(apierrors.IsNotFound(err), controller.IsAbsent(err))
	fmt.Println(err)
	// Output:
	// true true
	// example.com/v1/Gadget is not installed in the cluster, so there is no "g"
}

// The error of a read of an undeclared kind names the missing declaration.
func ExampleUndeclaredError() {
	err := &controller.UndeclaredError{
		Controller: "backup", GVK: corev1.SchemeGroupVersion.WithKind("Secret"), Declaration: "Reads(&v1.Secret{})",
	}
	fmt.Println(err)
	// Output:
	// /v1/Secret is not declared: add Reads(&v1.Secret{}) to the builder of controller "backup"
}

// Metadata declares and reads a kind without its content.
func ExampleMetadata() {
	fetch := func(ctx context.Context, r reconcile.Reader) (exists bool, err error) {
		secret := controller.Metadata(corev1.SchemeGroupVersion.WithKind("Secret"))
		result := reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: "default", Name: "token"}, secret)
		return result.OK(), client.IgnoreNotFound(result.Error)
	}
	claims := controller.New("backup", backups{}).Reads(controller.Metadata(corev1.SchemeGroupVersion.WithKind("Secret"))).Build()
	description, err := claims.Describe(exampleScheme())
	_ = fetch // called in FetchRemoteState
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println(description.Access[1].GVK, description.Access[1].Cache)
	// Output:
	// /v1/Secret metadata
}
