package apply_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// A plan is complete: a child that leaves the plan is pruned.
func ExamplePlan() {
	var plan apply.Plan
	plan.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}, apply.Seed("data.color"))
	plan.Apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}}, apply.Once)
	plan.Delete(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "former"}})
	for _, child := range plan.Children {
		fmt.Println(child.Object.GetName(), child.Mode == apply.Once, len(child.Fields))
	}
	// Output:
	// settings false 1
	// password true 0
}

// The server waits for its database. It is planned, but not applied yet.
func ExampleWaitUntil() {
	databaseReady := false
	var plan apply.Plan
	plan.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "database"}})
	plan.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "server"}}, apply.WaitUntil(databaseReady, "the database is ready"))
	for _, child := range plan.Children {
		fmt.Printf("%s %q\n", child.Object.GetName(), child.WaitsUntil)
	}
	// Output:
	// database ""
	// server "the database is ready"
}

// The server is written after the migration, in the same reconciliation if the migration is accepted. The former server is deleted after
// that.
func ExampleAfter() {
	migration := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "migration"}}
	server := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "server"}}
	former := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "former"}}

	var plan apply.Plan
	plan.Apply(migration)
	plan.Apply(server, apply.After(migration))
	plan.Delete(former, apply.After(server))

	fmt.Println(plan.Children[1].After[0].GetName())
	fmt.Println(plan.Deletes[0].After[0].GetName())
	// Output:
	// migration
	// server
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
