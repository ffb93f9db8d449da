package external_test

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/external"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// gone is a cluster whose owner was deleted but is still in the cache.
type gone struct{ cluster }

func (gone) Confirm(context.Context, client.Object) error { return errAway }

func TestNothingIsChangedForAnOwnerThatIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	_, _ = b.pass(b.owner, b.plan("a", "b"))
	b.next = gone{cluster{"shop"}}
	b.restart()
	b.server.databases = nil
	calls, result := b.pass(b.owner, b.plan("a"))
	b.want("with an owner that is gone", calls, "observe a")
	if err := result.Err(); !errors.Is(err, errAway) {
		t.Errorf("got %v, want the error of the cluster", err)
	}
	b.owner.DeletionTimestamp = &metav1.Time{Time: b.clock.Now()}
	calls, _ = b.pass(b.owner, b.plan())
	b.want("with a deletion that another process has carried out", calls)
}

func TestRemovedAfterARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	_, _ = b.pass(b.owner, b.plan("a", "b"))
	b.restart()
	calls, result := b.pass(b.owner, b.plan("a"))
	b.want("what the plan of the process before had", calls, "observe a", "remove b")
	if result.RequeueAfter == 0 {
		t.Error("want another pass, which takes the removed thing off the record")
	}
	_, _ = b.pass(b.owner, b.plan("a"))
	b.restart()
	calls, _ = b.pass(b.owner, b.plan("a"))
	b.want("what is off the record", calls, "observe a")
	_, _ = b.pass(b.owner, b.plan())
	_, _ = b.pass(b.owner, b.plan())
	if len(b.owner.Annotations)+len(b.owner.Finalizers) > 0 {
		t.Errorf("left on the owner: %v %v", b.owner.Annotations, b.owner.Finalizers)
	}
}

// unwritten is a cluster that rejects writes.
type unwritten struct{ cluster }

func (unwritten) Apply(context.Context, client.Object, apply.Plan) apply.Result {
	return apply.Result{OwnerErr: errAway}
}

// half is a cluster that writes the annotation without the finalizer.
type half struct{ cluster }

func (h half) Apply(ctx context.Context, owner client.Object, plan apply.Plan) apply.Result {
	plan.Hold = false
	return h.cluster.Apply(ctx, owner, plan)
}

// unnoted is a cluster that writes the finalizer without the annotation.
type unnoted struct{ cluster }

func (u unnoted) Apply(ctx context.Context, owner client.Object, plan apply.Plan) apply.Result {
	plan.Owner = nil
	return u.cluster.Apply(ctx, owner, plan)
}

func TestNothingBeforeTheRecord(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]pipeline.Applier{
		"Unwritten": unwritten{}, "WithoutFinalizer": half{cluster{"shop"}}, "WithoutAnnotation": unnoted{cluster{"shop"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, external.Options{})
			b.next = next
			calls, result := b.pass(b.owner, b.plan("a"))
			b.want("nobody would remember it", calls)
			if again := result.RequeueAfter > 0; result.Objects[0].Outcome != apply.OutcomeBlocked || again == (result.OwnerErr != nil) {
				t.Errorf("got %s, a requeue after %s and the error %v, want Blocked and one of another pass and an error",
					result.Objects[0].Outcome, result.RequeueAfter, result.OwnerErr)
			}
		})
	}
}

func TestALostAnswerIsRemembered(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	b.server.fail = map[string]error{external.VerbEnsure: errAway}
	_, result := b.pass(b.owner, b.plan("a"))
	var failed *external.Error
	if err := result.Err(); !errors.As(err, &failed) || !errors.Is(err, errAway) || failed.Verb != external.VerbEnsure {
		t.Fatalf("got %v, want the error of the server with the call", err)
	}
	b.restart()
	calls, _ := b.pass(b.owner, b.plan())
	b.want("it may exist", calls, "remove a")
}

// crashing is a cluster that writes the record of the owner and then stops the operator.
type crashing struct{ cluster }

func (c crashing) Apply(ctx context.Context, owner client.Object, plan apply.Plan) apply.Result {
	c.cluster.Apply(ctx, owner, plan)
	panic(errAway)
}

func TestACrashAfterTheRecordKeepsNoOwner(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	func() {
		defer func() { _ = recover() }()
		b.next = crashing{cluster{"shop"}}
		b.pass(b.owner, b.plan("a"))
	}()
	if len(b.owner.Finalizers) == 0 || len(b.owner.Annotations) == 0 {
		t.Fatal("the owner has no record")
	}
	b.next = cluster{"shop"}
	b.restart()
	now := metav1.Now()
	b.owner.DeletionTimestamp = &now
	calls, result := b.pass(b.owner, b.plan())
	b.want("it may exist", calls, "remove a")
	if err := result.Err(); err != nil || !result.Finalized {
		t.Errorf("finalized: %t, error %v; want true and none", result.Finalized, err)
	}
}
