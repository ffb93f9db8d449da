package groups_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/groups"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/watching"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

const name = "teams"

// TestEffect checks the effect of a member for the result of its group's last reconciliation.
func TestEffect(t *testing.T) {
	t.Parallel()
	member := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", Generation: 2}}
	old := member.DeepCopyObject().(client.Object)
	old.SetGeneration(1)
	failed := []metav1.Condition{{Type: "Other"}, {Type: "Ready", Status: metav1.ConditionFalse, Message: "no quota"}}
	for want, status := range map[groups.Effect]groups.GroupStatus{
		groups.EffectNone:    {Conditions: failed},
		groups.EffectPending: {Conditions: failed, Members: []groups.Member{groups.MemberOf(old, errors.New("too heavy"))}},
		groups.EffectRefused: {Conditions: failed, Members: []groups.Member{groups.MemberOf(member, errors.New("too heavy"))}},
		groups.EffectFailed:  {Conditions: failed, Members: []groups.Member{groups.MemberOf(member, nil)}},
		groups.EffectApplied: {Conditions: failed[:1], Members: []groups.Member{groups.MemberOf(member, nil)}},
	} {
		texts := map[groups.Effect]string{groups.EffectRefused: "too heavy", groups.EffectFailed: "no quota"}
		got, message := (&groups.Group{Status: status}).Effect(member)
		if got != want || message != texts[want] {
			t.Errorf("got %s %q, want %s %q", got, message, want, texts[want])
		}
	}
}

// nothing is an applier of empty plans.
type nothing struct{ pipeline.Applier }

func (nothing) Apply(context.Context, client.Object, apply.Plan) apply.Result { return apply.Result{} }

// world is a store with the members of its groups.
type world struct {
	*groups.World
	queue, readers watching.Queue
	tracker        *tracking.Tracker
	joined         *groups.Joined
}

func start(t *testing.T, single bool) *world {
	t.Helper()
	kinds, err := declaration.Resolve(name, scheme.Scheme, []declaration.Declaration{
		{Purpose: declaration.PurposeFor, Object: groups.Of(name)},
		{Purpose: declaration.PurposeOwns, Object: &corev1.ConfigMap{}},
		{Purpose: declaration.PurposeReads, Object: &corev1.Secret{}},
		{Purpose: declaration.PurposeWatches, Object: &corev1.Service{}, Mapping: func(_ context.Context, o client.Object) []ctrl.Request {
			return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetLabels()["team"]}}}
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	cache := fake.NewClientBuilder().WithObjects(
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Labels: map[string]string{"team": "red"}}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "api", Labels: map[string]string{"team": "red"}}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "left", Annotations: map[string]string{
			apply.GroupAnnotation: groupkey.Value(name, types.NamespacedName{Namespace: "shop", Name: "blue"}),
		}}},
	).Build()
	w := &world{
		World: &groups.World{
			Reader: cache, Applier: nothing{}, Store: groups.NewStore(name), Reads: tracked.New(kinds, cache, 0, tracked.Answers{}),
		},
		tracker: tracking.NewTracker(), joined: &groups.Joined{Controller: "members"},
	}
	w.Store.Single = single
	queues := [2]watching.Queue{}
	for i := range queues {
		queues[i] = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())
		t.Cleanup(queues[i].ShutDown)
	}
	w.queue, w.readers = queues[0], queues[1]
	if err := w.Store.Source().Start(t.Context(), w.queue); err != nil {
		t.Fatal(err)
	}
	if err := w.joined.Join(w.Store, w.tracker, &trigger.Triggers{}).Start(t.Context(), w.readers); err != nil {
		t.Fatal(err)
	}
	return w
}

// pass runs a reconciliation of the group with the members.
func (w *world) pass(t *testing.T, key types.NamespacedName, members ...groups.Member) (published bool) {
	t.Helper()
	g := groups.Of(name)
	if err := w.Get(t.Context(), key, g); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("ConfigMap", g.ChildKinds()[0].Kind); len(g.ChildKinds()) != 1 || diff != "" {
		t.Errorf("kinds of children: got %v, want ConfigMap alone", g.ChildKinds())
	}
	w.Apply(t.Context(), g, apply.Plan{})
	g.Status.Members = members
	published, err := w.WriteStatus(t.Context(), nil, g, nil)
	if err != nil {
		t.Fatal(err)
	}
	return published
}

// read reads the group for an owner that is a member.
func (w *world) read(owner, key types.NamespacedName) (*groups.Group, error) {
	s, g := w.tracker.Begin(owner, tracking.ScopeRead), groups.Of(name)
	defer s.End()
	return g, w.joined.Read(s, key, g)
}

func drained(q watching.Queue) (names []string) {
	for q.Len() > 0 {
		request, _ := q.Get()
		q.Done(request)
		names = append(names, request.String())
	}
	return names
}

// TestReadersOfGroups checks that an owner that reads a group waits for the group's first reconciliation, and is enqueued when the result changes.
func TestReadersOfGroups(t *testing.T) {
	t.Parallel()
	w := start(t, false)
	key, owner := types.NamespacedName{Namespace: "shop", Name: "red"}, types.NamespacedName{Namespace: "shop", Name: "web"}
	var notYet *pipeline.NotYetError
	if _, err := w.read(owner, key); !errors.As(err, &notYet) {
		t.Errorf("a group without a pass: got %v, want a NotYetError", err)
	}
	if diff := cmp.Diff([]string{"shop/red"}, drained(w.queue)); diff != "" {
		t.Errorf("passes that were asked for (-want +got):\n%s", diff)
	}
	for _, changes := range []bool{true, false} {
		if got := w.pass(t, key, groups.Member{UID: "u"}); got != changes {
			t.Errorf("a pass publishes something new: %t, want %t", got, changes)
		}
		if got := len(drained(w.readers)) == 1; got != changes {
			t.Errorf("the reader is woken: %t, want %t", got, changes)
		}
	}
	if g, err := w.read(owner, key); err != nil || len(g.Status.Members) != 1 {
		t.Errorf("got %v, %v", g.Status, err)
	}
	other := groups.Of("other")
	var undeclared *declaration.UndeclaredError
	if err := w.joined.Read(w.tracker.Begin(owner, tracking.ScopeRead), key, other); !errors.As(err, &undeclared) {
		t.Errorf("a group that is not joined: got %v, want an UndeclaredError", err)
	}
}

// TestForgottenGroups checks that an empty group is removed in its next reconciliation, unless it changed in the meantime or is a singleton.
func TestForgottenGroups(t *testing.T) {
	t.Parallel()
	key := types.NamespacedName{Namespace: "shop", Name: "red"}
	for title, tc := range map[string]struct{ single, revived, forgotten bool }{
		"idle": {forgotten: true}, "revived": {revived: true}, "singleton": {single: true},
	} {
		w := start(t, tc.single)
		if tc.single != (len(drained(w.queue)) == 1) {
			t.Errorf("%s: a singleton alone has a pass at the start", title)
		}
		w.pass(t, key)
		if tc.revived {
			w.Store.Revive(key)
		}
		err := w.Get(t.Context(), key, groups.Of(name))
		if got := apierrors.IsNotFound(err); got != tc.forgotten {
			t.Errorf("%s: the next pass finds no group: %t (%v), want %t", title, got, err, tc.forgotten)
		}
		if got := len(w.Store.Keys()) == 0 && w.Store.Peek(key) == nil; got != tc.forgotten {
			t.Errorf("%s: nothing is known of it: %t, want %t", title, got, tc.forgotten)
		}
	}
}

// TestInCache checks that the groups of members are found in the cache, and those that have children without members.
func TestInCache(t *testing.T) {
	t.Parallel()
	w := start(t, false)
	got, err := w.Store.InCache(t.Context(), w.Reads)
	want := []types.NamespacedName{{Namespace: "shop", Name: "blue"}, {Namespace: "shop", Name: "red"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("groups (-want +got):\n%s%v", diff, err)
	}
}
