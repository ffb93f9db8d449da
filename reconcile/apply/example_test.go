package apply_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// The first pass creates the child; the second finds it right. A real program
// passes the client and the API reader of its manager.
func ExampleEngine_Apply() {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default", UID: "1"}}
	mapper := apimeta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), apimeta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ServiceAccount"), apimeta.RESTScopeNamespace)
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).
		WithReturnManagedFields().WithObjects(owner).Build()
	engine, err := apply.New(c, c, apply.Options{FieldManager: "shop-operator"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		var set apply.Plan
		set.Apply(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "web"}})
		result := engine.Apply(context.Background(), owner, set)
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

func ExampleParsePath() {
	for _, text := range []string{".spec.replicas", `spec.template.spec.containers[name=main].image`, "spec.ports[0]"} {
		path, err := apply.ParsePath(text)
		fmt.Println(path, err)
	}
	// Output:
	// spec.replicas <nil>
	// spec.template.spec.containers[name=main].image <nil>
	//  path "spec.ports[0]" at byte 10: want ["name"] or [key=value,...]
}

func ExampleContestedError() {
	err := &apply.ContestedError{Kind: "Deployment", Namespace: "shop", Name: "web", Fields: []apply.ContestedField{
		{Path: ".spec.replicas", Manager: "autoscaler"},
	}}
	fmt.Println(err)
	// Output:
	// Deployment shop/web has fields of other managers: .spec.replicas of "autoscaler"
}

func ExampleShortenManagedFields() {
	transform := apply.ShortenManagedFields("shop-operator")
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		{Manager: "shop-operator", Operation: "Apply", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:data":{}}`)}},
		{Manager: "kubectl-edit", Operation: "Update", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:data":{}}`)}},
	}}}
	if _, err := transform(o); err != nil {
		fmt.Println(err)
	}
	for _, entry := range o.ManagedFields {
		fmt.Println(entry.Manager, entry.Operation, entry.FieldsV1 != nil)
	}
	// Output:
	// shop-operator Apply true
	// kubectl-edit Update false
}
