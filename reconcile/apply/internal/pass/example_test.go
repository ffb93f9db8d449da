package pass_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/passtest"
)

// A pass resolves the planned children: kind, name, what is remembered of them.
func Example() {
	var plan apply.Plan
	plan.Apply(passtest.Settings("settings"))
	plan.Apply(&corev1.ConfigMap{})
	p, err := passtest.Begin(context.Background(), &plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.End()
	p.ResolveAll()
	for _, c := range p.Children {
		fmt.Println(c.Result.GVK.Kind, c.ID.Key, c.Result.Err)
	}
	// Output:
	// ConfigMap default/settings <nil>
	// ConfigMap default/ child: metadata.name is empty, want a name that is the same in each pass
}
