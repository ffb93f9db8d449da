package drawn_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/drawn"
)

func Example() {
	jobs := schema.GroupKind{Group: "batch", Kind: "Job"}
	job := func(name string) []drawn.Object {
		return []drawn.Object{{Kind: jobs, Key: types.NamespacedName{Namespace: "default", Name: name}}}
	}
	names := &drawn.Names{}
	names.Learn(job("backup-x4mz"), job("backup-7yqe"), job("backup-22dk"))

	shown, part := names.Of(jobs, types.NamespacedName{Namespace: "default", Name: "backup-k3jr"})
	fmt.Println(shown, part)
	// Output:
	// backup-* k3jr
}
