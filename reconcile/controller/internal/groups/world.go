package groups

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// World replaces the API server for the pipeline of a group.
type World struct {
	client.Reader
	pipeline.Applier

	Store *Store
	Reads *tracked.Reads
}

// Get reads the group that a request names.
func (w *World) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	into2, ok := into.(*Group)
	if !ok {
		return w.Reader.Get(ctx, key, into, opts...)
	}
	g := w.Store.owner(key)
	if g == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: "group", Resource: w.Store.Name}, key.String())
	}
	for _, k := range w.Reads.Kinds {
		if k.Has(declaration.PurposeOwns) && !k.Absent.Load() {
			g.childKinds = append(g.childKinds, k.GroupVersionKind)
		}
	}
	*into2 = *g
	return nil
}

// Apply applies the children and records whether the group has any work left.
func (w *World) Apply(ctx context.Context, owner client.Object, plan apply.Plan) apply.Result {
	result := w.Applier.Apply(ctx, owner, plan)
	if g, ok := owner.(*Group); ok {
		g.idle = len(plan.Children)+len(plan.Deletes)+len(result.Objects) == 0 && result.OwnerErr == nil && result.PruneBlocked == nil &&
			!w.Store.Single
	}
	return result
}

// Rewrite does nothing, because a group is not stored.
func (w *World) Rewrite(context.Context, client.Object, client.Object) (written bool, err error) {
	return false, nil
}

// WriteStatus publishes the status of the group.
func (w *World) WriteStatus(_ context.Context, _, after client.Object, _ []string) (written bool, err error) {
	g, ok := after.(*Group)
	if !ok {
		return false, nil
	}
	g.idle = g.idle && len(g.Status.Members) == 0
	return w.Store.put(g), nil
}
