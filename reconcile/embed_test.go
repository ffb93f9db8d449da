package reconcile_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

// watcher only tells what it sees: one phase is all it needs.
type watcher struct {
	reconcile.AsFetched[*widget.Widget, seen]
	reconcile.NoChildren[*widget.Widget, seen]
}

type seen struct {
	reconcile.NoComponents
	name string
}

func (watcher) FetchRemoteState(_ context.Context, _ reconcile.Reader, rc reconcile.ReconcileContext[*widget.Widget]) seen {
	return seen{name: rc.Object.Name}
}

var _ reconcile.Reconciler[*widget.Widget, seen, seen] = watcher{}

func ExampleAsFetched() {
	ctx, rc := context.Background(), reconcile.ReconcileContext[*widget.Widget]{
		Object: &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
	}
	var w watcher
	observation := w.ComposeState(ctx, rc, w.FetchRemoteState(ctx, client.Reader(nil), rc))
	plan := w.PlanResources(ctx, rc, observation)
	fmt.Println(observation.name, len(plan.Children), len(observation.GetComponentHealth(ctx)))
	// Output: a 0 0
}
