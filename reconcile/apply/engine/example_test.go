package engine_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

// The first reconciliation creates the child, the second changes nothing. A real program
// passes the client and the API reader of its manager.
func ExampleEngine_Apply() {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default", UID: "1"}}
	mapper := apimeta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), apimeta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ServiceAccount"), apimeta.RESTScopeNamespace)
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).
		WithReturnManagedFields().WithObjects(owner).Build()
	e, err := engine.New(c, c, apply.Options{FieldManager: "shop-operator"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		var set apply.Plan
		set.Apply(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "web"}})
		result := e.Apply(context.Background(), owner, set)
		if err := result.Err(); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(result.Objects[0].Key, result.Objects[0].Outcome)
	}
	// Output:
	// default/web Created
	// default/web Unchanged
}
