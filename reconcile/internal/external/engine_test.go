package external_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/external"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

var errAway = &net.OpError{Op: "dial", Err: errors.New("connection refused")}

// bench is an engine with a server and one owner.
type bench struct {
	t         *testing.T
	server    *server
	databases *external.Kind[database, database]
	engine    *external.Engine
	clock     *clocktesting.FakePassiveClock
	woken     map[types.NamespacedName]time.Duration
	owner     *corev1.ConfigMap
	next      pipeline.Applier
	claims    external.MemoryClaims
}

func newBench(t *testing.T, options external.Options) *bench {
	b := &bench{
		t: t, server: &server{}, clock: clocktesting.NewFakePassiveClock(time.Unix(1e9, 0)), next: cluster{"shop"},
		woken: map[types.NamespacedName]time.Duration{}, owner: ownerOf("shop", "1"),
	}
	b.databases = external.New("Database", b.server, options)
	b.restart()
	return b
}

func ownerOf(name string, uid types.UID) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: uid}}
}

// restart replaces the engine with one without in-memory state.
func (b *bench) restart() {
	engine, err := external.NewEngine(external.Config{
		Kinds: []external.Declared{b.databases}, FieldManager: "shop", Domain: "example.com", Finalizer: "example.com/shop",
		Clock: b.clock, Claims: &b.claims, Wake: func(owner types.NamespacedName, after time.Duration) { b.woken[owner] = after },
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.engine = engine
}

func (b *bench) plan(keys ...string) (plan reconcile.PlanResult) {
	for _, key := range keys {
		b.databases.Ensure(&plan, key, database{Owner: "shop"})
	}
	return plan
}

// pass applies a plan for an owner and returns the calls.
func (b *bench) pass(owner client.Object, plan reconcile.PlanResult) ([]string, apply.Result) {
	return b.passIn(b.t.Context(), owner, plan)
}

func (b *bench) passIn(ctx context.Context, owner client.Object, plan reconcile.PlanResult) ([]string, apply.Result) {
	b.engine.Begin(client.ObjectKeyFromObject(owner))
	result := b.engine.Wrap(b.next).Apply(ctx, owner, plan)
	return b.server.take(), result
}

func (b *bench) want(reason string, got []string, want ...string) {
	b.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		b.t.Errorf("%s: calls (-want +got):\n%s", reason, diff)
	}
}

func TestUnknownIsNeverUnwanted(t *testing.T) {
	t.Parallel()
	gvk := external.New("Database", &server{}, external.Options{}).GroupVersionKind()
	for name, unknown := range map[string]func(*reconcile.PlanResult){
		"PruneBlocked": func(p *reconcile.PlanResult) { p.PruneBlocked = errAway },
		"KeptKind":     func(p *reconcile.PlanResult) { p.KeepKind(gvk) },
		"Unknown":      func(p *reconcile.PlanResult) { p.Unknown = map[schema.GroupKind]error{gvk.GroupKind(): errAway} },
		"Suspend":      func(p *reconcile.PlanResult) { p.Policy = apply.Suspend },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, external.Options{})
			_, _ = b.pass(b.owner, b.plan("a"))
			plan := b.plan()
			unknown(&plan)
			calls, _ := b.pass(b.owner, plan)
			b.want(name, calls)
			calls, _ = b.pass(b.owner, b.plan())
			b.want("it is still remembered", calls, "remove a")
		})
	}
}

func TestAKeyHasOneOwner(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	other := ownerOf("other", "2")
	_, _ = b.pass(b.owner, b.plan("a"))
	calls, result := b.pass(other, b.plan("a"))
	b.want("the first one has it", calls)
	if got := health.Categorize(result.Err()).Category; got != health.Conflict {
		t.Errorf("got category %s of %v, want %s", got, result.Err(), health.Conflict)
	}
	if len(other.Annotations) > 0 {
		t.Errorf("what it has not got is on its record: %v", other.Annotations)
	}
	calls, _ = b.pass(other, b.plan())
	b.want("it never had it", calls)
	_, _ = b.pass(b.owner, b.plan())
	_, _ = b.pass(b.owner, b.plan())
	calls, _ = b.pass(other, b.plan("a"))
	b.want("the first one has given it up", calls, "observe a", "ensure a")
}

func TestAnAnnotationIsAHint(t *testing.T) {
	t.Parallel()
	permit := func(owner types.NamespacedName, key string) error {
		if key == "foreign" {
			return errors.New("belongs to " + owner.Namespace + " no more")
		}
		return nil
	}
	t.Run("Copied", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, external.Options{})
		other := ownerOf("other", "2")
		_, _ = b.pass(other, b.plan("a"))
		b.restart()
		b.owner.Annotations = other.Annotations
		calls, _ := b.pass(b.owner, b.plan())
		b.want("another owner has claimed it", calls)
	})
	t.Run("Forbidden", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, external.Options{})
		_, _ = b.pass(b.owner, b.plan("foreign"))
		b.databases = external.New("Database", b.server, external.Options{Permit: permit})
		b.restart()
		calls, _ := b.pass(b.owner, b.plan())
		b.want("the owner may not have it", calls)
		_, result := b.pass(b.owner, b.plan("foreign"))
		if got := health.Categorize(result.Err()).Category; got != health.InvalidSpec {
			t.Errorf("got category %s of %v, want %s", got, result.Err(), health.InvalidSpec)
		}
	})
	t.Run("Lost", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, external.Options{})
		_, _ = b.pass(b.owner, b.plan("a"))
		b.owner.Annotations, b.owner.ManagedFields = nil, nil
		calls, _ := b.pass(b.owner, b.plan())
		b.want("the claim is not on the owner", calls, "remove a")
	})
}

func TestDeletion(t *testing.T) {
	t.Parallel()
	deleted := func(b *bench) {
		now := metav1.NewTime(b.clock.Now())
		b.owner.DeletionTimestamp = &now
	}
	t.Run("RemovedFirst", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, external.Options{})
		_, _ = b.pass(b.owner, b.plan("a", "b"))
		deleted(b)
		b.restart()
		b.server.fail = map[string]error{external.VerbRemove: errAway}
		_, result := b.pass(b.owner, b.plan())
		if result.Finalized || len(b.owner.Finalizers) == 0 || result.Err() == nil {
			t.Fatalf("the owner may go before what it has is removed: %v", result.Err())
		}
		b.server.fail = nil
		calls, result := b.pass(b.owner, b.plan())
		b.want("all of it", calls, "remove a", "remove b")
		if !result.Finalized {
			t.Error("the owner is kept although nothing is left")
		}
	})
	t.Run("StillPlanned", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, external.Options{})
		_, _ = b.pass(b.owner, b.plan("a"))
		deleted(b)
		calls, result := b.pass(b.owner, b.plan("a"))
		b.want("Finalize still needs it", calls)
		if result.Finalized {
			t.Error("the owner may go before what it has is removed")
		}
	})
	t.Run("Orphaned", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, external.Options{})
		_, _ = b.pass(b.owner, b.plan("a"))
		deleted(b)
		b.owner.Finalizers = append(b.owner.Finalizers, metav1.FinalizerOrphanDependents)
		b.engine.AnnounceOwner(b.owner)
		b.owner.Finalizers = b.owner.Finalizers[:1]
		calls, result := b.pass(b.owner, b.plan())
		b.want("--cascade=orphan leaves it", calls)
		if !result.Finalized {
			t.Error("the owner is kept")
		}
	})
}

func TestWhatWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	plan := func(met bool) (plan reconcile.PlanResult) {
		b.databases.Ensure(&plan, "a", database{}, apply.WaitUntil(met, "the server is ready"))
		return plan
	}
	calls, result := b.pass(b.owner, plan(false))
	b.want("it is held back", calls)
	if got := result.Objects[0]; got.Outcome != apply.OutcomeWaiting || got.WaitsUntil != "the server is ready" {
		t.Errorf("got %s until %q, want that it waits until the server is ready", got.Outcome, got.WaitsUntil)
	}
	_, _ = b.pass(b.owner, plan(true))
	b.restart()
	calls, _ = b.pass(b.owner, plan(false))
	b.want("it is not removed", calls)
}

func TestEffects(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	plan := func() (plan reconcile.PlanResult) {
		b.databases.Once(&plan, "report", database{})
		return plan
	}
	b.server.fail = map[string]error{external.VerbEnsure: errAway}
	calls, result := b.pass(b.owner, plan())
	b.want("it fails", calls, "ensure report")
	if result.Err() == nil {
		t.Error("want the error")
	}
	b.server.fail = nil
	calls, _ = b.pass(b.owner, plan())
	b.want("again", calls, "ensure report")
	calls, _ = b.pass(b.owner, plan())
	b.want("this process remembers, and stores the marker", calls)
	b.restart()
	calls, _ = b.pass(b.owner, plan())
	b.want("the marker is stored", calls)
	_, _ = b.pass(b.owner, reconcile.PlanResult{})
	calls, _ = b.pass(b.owner, plan())
	b.want("a plan has left it out in between", calls, "ensure report")
}

func TestTheCircuitOfASystem(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{Failures: 2, Open: time.Second, Classify: func(error) (health.Category, string) {
		return health.Infrastructure, "ServerAway"
	}})
	second := ownerOf("second", "2")
	b.server.fail = map[string]error{external.VerbObserve: errAway}
	get := func(owner client.Object) error {
		b.engine.Begin(client.ObjectKeyFromObject(owner))
		return b.databases.Observe(t.Context(), reader{b.engine, owner}, owner.GetName()).Error
	}
	_, _ = get(b.owner), get(b.owner)
	b.want("the circuit is closed", b.server.take(), "observe shop", "observe shop")
	if err := get(second); !errors.Is(err, errAway) || health.Categorize(err).Category != health.Infrastructure {
		t.Errorf("got %v, want the last answer of the server, as Infrastructure", err)
	}
	var unsent interface{ NotSentUntil() time.Time }
	if err := get(second); !errors.As(err, &unsent) || !unsent.NotSentUntil().Equal(b.clock.Now().Add(time.Second)) {
		t.Errorf("got %v, want until when nothing is sent", err)
	} else if got := health.Categorize(err).Reason; got != "ServerAway" {
		t.Errorf("the reason is %s, want that of the last answer", got)
	}
	b.want("the circuit is open", b.server.take())
	if b.woken[client.ObjectKeyFromObject(b.owner)] != time.Second || b.engine.Open()["Database"] != 1 {
		t.Errorf("nobody asks whether the server is back: %v, %v", b.woken, b.engine.Open())
	}
	b.clock.SetTime(b.clock.Now().Add(time.Second))
	b.server.fail = nil
	clear(b.woken)
	if err := get(b.owner); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want that there is none", err)
	}
	if after, woken := b.woken[client.ObjectKeyFromObject(second)]; !woken || after != 0 {
		t.Errorf("the owner that waits was not woken: %v", b.woken)
	}
}

func TestARateDefersAPass(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{Rate: 1})
	r := reader{b.engine, b.owner}
	if got := b.databases.Observe(t.Context(), r, "a"); !got.IsNotFound() {
		t.Fatalf("got %v, want that there is none", got.Error)
	}
	var later *pipeline.NotYetError
	if got := b.databases.Observe(t.Context(), r, "b"); !errors.As(got.Error, &later) {
		t.Errorf("got %v, want that the answer comes later", got.Error)
	}
	if b.woken[client.ObjectKeyFromObject(b.owner)] == 0 {
		t.Error("want another pass when there is room")
	}
}

// reader is the reader of a reconciliation.
type reader struct {
	engine *external.Engine
	owner  client.Object
}

func (r reader) Get(ctx context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	return r.engine.Get(ctx, client.ObjectKeyFromObject(r.owner), into.(*external.Object))
}

func (reader) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// TestAnotherNotFound checks that a not-found error about another object does not mean that the resource is missing.
func TestAnotherNotFound(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	b.server.fail = map[string]error{external.VerbObserve: apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "x")}
	if got := b.databases.Observe(t.Context(), reader{b.engine, b.owner}, "a"); got.IsNotFound() || apierrors.IsNotFound(got.Error) {
		t.Errorf("got %v, want an error that is no NotFound", got.Error)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	other := external.New("Topic", &server{}, external.Options{})
	for name, plan := range map[string]reconcile.PlanResult{
		"Twice": b.plan("a", "a"), "NoKey": b.plan(""), "LongKey": b.plan(string(make([]byte, 600))),
		"Ordered": func() (p reconcile.PlanResult) {
			b.databases.Ensure(&p, "a", database{}, apply.After(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
			return p
		}(),
		"Undeclared": func() (p reconcile.PlanResult) { other.Ensure(&p, "a", database{}); return p }(),
	} {
		if calls, result := b.pass(b.owner, plan); result.OwnerErr == nil || len(calls) > 0 {
			t.Errorf("%s: got error %v and calls %v, want a refusal", name, result.OwnerErr, calls)
		}
	}
	for _, name := range []string{"", "a b", "Ä"} {
		if _, err := external.NewEngine(external.Config{
			Kinds: []external.Declared{external.New(name, &server{}, external.Options{})}, FieldManager: "a", Domain: "a.b", Finalizer: "a.b/c",
		}); err == nil {
			t.Errorf("name %q: want a refusal", name)
		}
	}
}
