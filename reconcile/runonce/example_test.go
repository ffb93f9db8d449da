package runonce_test

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/runonce"
)

func Example() {
	migration := runonce.Run[*batchv1.Job]{Annotation: "example.com/migrated-to"}
	desired := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "migration"}}
	done := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Name: "migration", Annotations: map[string]string{migration.Annotation: "v1"},
		OwnerReferences: []metav1.OwnerReference{{UID: "1", Controller: new(true)}},
	}}
	none := reconcile.FetchResult[*batchv1.Job]{}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "1"}}

	fmt.Println(migration.Plan(&reconcile.PlanResult{}, owner, none, "v1", desired))
	fmt.Println(migration.Plan(&reconcile.PlanResult{}, owner, reconcile.FetchResult[*batchv1.Job]{Value: done}, "v1", desired))

	owner.Annotations = map[string]string{migration.Annotation: "v1"}
	fmt.Println(migration.Plan(&reconcile.PlanResult{}, owner, none, "v1", desired)) // the Job was deleted by its TTL
	fmt.Println(migration.Plan(&reconcile.PlanResult{}, owner, reconcile.FetchResult[*batchv1.Job]{Value: done}, "v2", desired))
	// Output:
	// Absent
	// Present
	// Lost
	// Outdated
}
