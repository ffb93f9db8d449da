package engine

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// stage has the owner "shop" and an engine with a fake API server. It is for tests of decisions. Behaviour that depends on how an API server defaults,
// validates or merges is tested on a real one.
type stage struct {
	t      *testing.T
	server client.Client
	clock  *testingclock.FakePassiveClock
	owner  *corev1.ConfigMap
	engine *Engine
	// refusal answers patches, cached answers the reads of the cache; nil for the API server. override changes what patches store.
	refusal  error
	cached   *corev1.ConfigMap
	override func(*corev1.ConfigMap)
	// liveReads counts the reads from the API server.
	liveReads int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	mapper := apimeta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), apimeta.RESTScopeNamespace)
	s := &stage{
		t: t, clock: testingclock.NewFakePassiveClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)),
		owner: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default", UID: "1"}},
	}
	s.server = fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).WithReturnManagedFields().
		WithObjects(s.owner).Build()
	s.check(s.server.Get(t.Context(), s.key(), s.owner))
	s.start("operator")
	return s
}

// start replaces the engine with one of a new process.
func (s *stage) start(manager string, former ...string) {
	s.t.Helper()
	watching, ok := s.server.(client.WithWatch)
	if !ok {
		s.t.Fatal("the fake client cannot watch")
	}
	cache := interceptor.NewClient(watching, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if into, ok := o.(*corev1.ConfigMap); ok && s.cached != nil {
				s.cached.DeepCopyInto(into)
				return nil
			}
			return c.Get(ctx, key, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if s.refusal != nil {
				return s.refusal
			}
			err := c.Patch(ctx, o, patch, opts...)
			if stored, ok := o.(*corev1.ConfigMap); ok && err == nil && s.override != nil {
				s.override(stored)
				return c.Update(ctx, stored, client.FieldOwner("policy"))
			}
			return err
		},
	})
	live := interceptor.NewClient(watching, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			s.liveReads++
			return c.Get(ctx, key, o, opts...)
		},
	})
	e, err := New(cache, live, apply.Options{
		FieldManager: manager, FormerManagers: former, OptOutAnnotation: "example.com/managed", Clock: s.clock, Concurrency: 1,
	})
	s.check(err)
	s.engine = e
}

func (s *stage) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// key returns the key of the owner.
func (s *stage) key() client.ObjectKey { return client.ObjectKeyFromObject(s.owner) }

// begin begins a reconciliation, which ends with the test.
func (s *stage) begin(plan apply.Plan) *pass {
	s.t.Helper()
	p, err := s.engine.env.begin(s.t.Context(), s.owner, &plan, s.engine.memory.Owner(s.owner))
	s.check(err)
	s.t.Cleanup(p.end)
	return p
}

// apply applies a plan and ignores the result.
func (s *stage) apply(plan apply.Plan) apply.Result {
	s.t.Helper()
	return s.engine.Apply(s.t.Context(), s.owner, plan)
}

// create creates an object as another manager.
func (s *stage) create(o client.Object) {
	s.t.Helper()
	o.SetUID("2")
	s.check(s.server.Create(s.t.Context(), o, client.FieldOwner("rival")))
}

// child returns the ConfigMap "settings".
func (s *stage) child() *corev1.ConfigMap {
	s.t.Helper()
	o := &corev1.ConfigMap{}
	s.check(s.server.Get(s.t.Context(), client.ObjectKey{Namespace: "default", Name: "settings"}, o))
	return o
}

// update changes the ConfigMap "settings" as another manager.
func (s *stage) update(change func(*corev1.ConfigMap)) {
	s.t.Helper()
	o := s.child()
	change(o)
	s.check(s.server.Update(s.t.Context(), o, client.FieldOwner("rival")))
}

// contest changes the child as another manager after each of many repairs.
func (s *stage) contest(plan apply.Plan, change func(*corev1.ConfigMap)) {
	s.t.Helper()
	s.apply(plan)
	for range memory.MaxRepairs + 1 {
		s.update(change)
		s.apply(plan)
	}
}

// overridden simulates a policy that changes each apply of the plan, until the engine stops writing.
func (s *stage) overridden(plan apply.Plan, change func(*corev1.ConfigMap)) {
	s.t.Helper()
	s.override = change
	for range 3 {
		s.apply(plan)
	}
}

// strip makes the cache return the current ConfigMap "settings" without managedFields.
func (s *stage) strip() {
	s.t.Helper()
	s.cached = s.child()
	s.cached.ManagedFields = nil
}

// settings returns the ConfigMap of most plans.
func settings() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: "default"}, Data: map[string]string{"color": "green"}}
}

// controlledByAnother returns that ConfigMap as the child of another owner.
func controlledByAnother() *corev1.ConfigMap {
	o := settings()
	controller := true
	o.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "3", Controller: &controller}}
	return o
}

// planOf returns a plan of one object.
func planOf(o client.Object, opts ...apply.ChildOption) apply.Plan {
	var plan apply.Plan
	plan.Apply(o, opts...)
	return plan
}
