package subject

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/benchmarks/desired"
	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

// cachedReads is a baseline: the minimum for a reconciler that reads the owner and its children.
type cachedReads struct {
	reader client.Reader
}

func newCachedReads(env Environment) (reconcile.Reconciler, error) {
	return &cachedReads{reader: env.Client}, nil
}

// Reconcile reads the owner and its children. It derives the names of the children from the owner without building them.
func (r *cachedReads) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	owner := &widget.Widget{}
	if err := r.reader.Get(ctx, request.NamespacedName, owner); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	for i := range owner.Spec.Count {
		key := client.ObjectKey{Namespace: owner.Namespace, Name: desired.ChildName(owner, i)}
		if err := r.reader.Get(ctx, key, desired.Kind(i)); err != nil {
			return reconcile.Result{}, fmt.Errorf("get child %d: %w", i, err)
		}
	}
	return reconcile.Result{}, nil
}
