package external_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/external"
)

var errKilled = errors.New("the process was killed")

// process is a process that stops at a given step. Each write of the owner, of a claim and of the external system is a step.
type process struct {
	left    int  // number of steps until the process stops
	carried bool // the last step succeeds, but its response is lost
	dead    bool
}

// step performs one step.
func (p *process) step(do func() error) error {
	if p.dead {
		return errKilled
	}
	if p.left--; p.left >= 0 {
		return do()
	}
	p.dead = true
	if p.carried {
		_ = do()
	}
	return errKilled
}

// mortalClaims writes the claims of a process. Each write is a step.
type mortalClaims struct {
	external.Claims
	process *process
}

func (m mortalClaims) Create(ctx context.Context, c external.Claim) (found *external.Claim, err error) {
	err = m.process.step(func() (err error) { found, err = m.Claims.Create(ctx, c); return err })
	return found, err
}

func (m mortalClaims) MarkRemoved(ctx context.Context, c external.Claim) error {
	return m.process.step(func() error { return m.Claims.MarkRemoved(ctx, c) })
}

func (m mortalClaims) Delete(ctx context.Context, c external.Claim) error {
	return m.process.step(func() error { return m.Claims.Delete(ctx, c) })
}

// mortalCluster writes the owner, its annotation and its finalizer in one step each.
type mortalCluster struct {
	cluster
	process *process
}

func (m mortalCluster) Apply(ctx context.Context, owner client.Object, plan apply.Plan) (result apply.Result) {
	held := owner.DeepCopyObject().(client.Object)
	_ = m.cluster.Apply(ctx, held, plan)
	if err := m.process.step(func() error { owner.SetFinalizers(held.GetFinalizers()); return nil }); err != nil {
		return apply.Result{OwnerErr: err}
	}
	if err := m.process.step(func() error { result = m.cluster.Apply(ctx, owner, plan); return nil }); err != nil {
		return apply.Result{OwnerErr: err}
	}
	return result
}

// mortalServer is the external system. Each call of a process is a step.
type mortalServer struct {
	*server
	process *process
}

func (m mortalServer) Ensure(ctx context.Context, key string, spec database) (out database, err error) {
	err = m.process.step(func() (err error) { out, err = m.server.Ensure(ctx, key, spec); return err })
	return out, err
}

func (m mortalServer) Remove(ctx context.Context, key string) error {
	return m.process.step(func() error { return m.server.Remove(ctx, key) })
}

// TestStopsAtEachStep stops the process at each step while a database is created, replaced by another one and dropped. The next
// process has another plan, or finds the owner deleted. No database, annotation or finalizer may be left over, and no claim may be lost.
func TestStopsAtEachStep(t *testing.T) {
	t.Parallel()
	for _, carried := range []bool{false, true} {
		for _, deleted := range []bool{false, true} {
			t.Run(fmt.Sprintf("carried out %t, owner deleted %t", carried, deleted), func(t *testing.T) {
				t.Parallel()
				for steps := 0; ; steps++ {
					if killed := stopAt(t, steps, carried, deleted); !killed {
						if steps < 10 {
							t.Errorf("got %d steps, want at least 10", steps)
						}
						return
					}
				}
			})
		}
	}
}

func stopAt(t *testing.T, steps int, carried, deleted bool) (killed bool) {
	t.Helper()
	b := newBench(t, external.Options{})
	mortal := &process{left: steps, carried: carried}
	b.runs(mortal)
	for _, keys := range [][]string{{"a"}, {"a"}, {"b"}, {"b"}, {}, {}} {
		_, _ = b.pass(b.owner, b.plan(keys...))
		if mortal.dead {
			break
		}
	}
	b.runs(&process{left: 1 << 20})
	if deleted {
		if len(b.owner.Finalizers) == 0 {
			if len(b.server.databases) > 0 {
				t.Errorf("step %d: the owner has no finalizer, and the system has %v", steps, b.server.databases)
			}
			return mortal.dead
		}
		b.owner.DeletionTimestamp = &metav1.Time{Time: b.clock.Now()}
	}
	for range 4 {
		_, result := b.pass(b.owner, reconcile.PlanResult{})
		if reason := lostReason(result); reason != "" {
			t.Errorf("step %d: got reason %q of %v", steps, reason, result.Err())
		}
		if result.Finalized {
			break
		}
	}
	claims, err := b.claims.List(t.Context())
	type rest struct {
		Databases   map[string]database
		Claims      []external.Claim
		Annotations map[string]string
		Finalizers  []string
	}
	got := rest{b.server.databases, claims, b.owner.Annotations, b.owner.Finalizers}
	if deleted {
		got.Annotations = nil // annotations are deleted with the owner
	}
	if diff := cmp.Diff(rest{}, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("step %d: left over (-want +got), error %v:\n%s", steps, err, diff)
	}
	return mortal.dead
}

// runs starts a process with the stored claims and the system.
func (b *bench) runs(p *process) {
	b.t.Helper()
	b.databases = external.New("Database", mortalServer{b.server, p}, external.Options{})
	engine, err := external.NewEngine(external.Config{
		Kinds: []external.Declared{b.databases}, FieldManager: "shop", Domain: "example.com", Finalizer: "example.com/shop",
		Clock: b.clock, Claims: mortalClaims{&b.claims, p},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.engine, b.next = engine, mortalCluster{cluster{"shop"}, p}
}
