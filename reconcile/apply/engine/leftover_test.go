package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// fleet is many owners in one namespace, each with one child of five kinds,
// as at the start of a process.
type fleet struct {
	*shelf
	owners []*widget.Widget
	plans  []apply.Plan
}

func newFleet(n int) *fleet {
	f := &fleet{shelf: newShelf()}
	for i := range n {
		owner := &widget.Widget{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: fmt.Sprintf("w-%d", i), UID: types.UID(fmt.Sprintf("owner-%d", i)), ResourceVersion: "1",
			Annotations: map[string]string{
				applyset.GroupKindsAnnotation: "ConfigMap,Deployment.apps,Secret,Service,ServiceAccount",
				applyset.ToolingAnnotation:    "reconcilekit/v1",
			},
		}}
		var plan apply.Plan
		for _, o := range []client.Object{
			&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Service{}, &corev1.ServiceAccount{}, &appsv1.Deployment{},
		} {
			o.SetName(owner.Name)
			plan.Apply(o.DeepCopyObject().(client.Object), apply.Once)
			f.put(f.childOf(owner, o))
		}
		f.owners, f.plans = append(f.owners, owner), append(f.plans, plan)
	}
	return f
}

// childOf makes the object a child of the owner.
func (f *fleet) childOf(owner *widget.Widget, o client.Object) client.Object {
	yes := true
	o.SetNamespace(owner.Namespace)
	o.SetUID(types.UID("of " + string(owner.UID) + " " + o.GetName()))
	o.SetResourceVersion("1")
	gk := widget.GroupVersion.WithKind("Widget").GroupKind()
	o.SetLabels(map[string]string{applyset.PartOfLabel: applyset.ID(gk, client.ObjectKeyFromObject(owner))})
	labels := `{"f:metadata":{"f:labels":{"f:applyset.kubernetes.io/part-of":{}}}}`
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(labels),
	}})
	o.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: widget.GroupVersion.String(), Kind: "Widget", Name: owner.Name, UID: owner.UID, Controller: &yes,
	}})
	return o
}

// leftover adds a child of the owner that no plan names.
func (f *fleet) leftover(owner *widget.Widget, name string) client.Object {
	o := f.childOf(owner, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}})
	f.put(o)
	return o
}

func (f *fleet) start(t testing.TB) *engine.Engine {
	t.Helper()
	engine, err := engine.New(f, f, apply.Options{FieldManager: manager, Announced: true})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// passes runs one reconciliation for each owner.
func (f *fleet) passes(t testing.TB, engine *engine.Engine) {
	t.Helper()
	for i, owner := range f.owners {
		if err := engine.Apply(context.Background(), owner, f.plans[i]).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLeftoversAreLookedForTogether(t *testing.T) {
	t.Parallel()
	f := newFleet(20)
	f.leftover(f.owners[7], "left-over")
	engine := f.start(t)
	f.passes(t, engine)
	const alone = 5 // number of kinds
	if want := alone + alone; f.lists != want {
		t.Errorf("%d lists, want %d: one for each kind, and again for the owner that has something left over", f.lists, want)
	}
	if diff := cmp.Diff([]string{"left-over of owner-7 left-over"}, f.deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
	f.passes(t, engine)
	if len(f.deleted) != 1 || f.lists > 4*alone {
		t.Errorf("after a second round %d lists, deleted %v", f.lists, f.deleted)
	}
}

func TestLeftoverThatAppearsLater(t *testing.T) {
	t.Parallel()
	f := newFleet(5)
	engine := f.start(t)
	f.passes(t, engine)
	engine.Announce(nil, f.leftover(f.owners[2], "late"))
	before := f.leftover(f.owners[3], "labelled later").DeepCopyObject().(client.Object)
	after := before.DeepCopyObject().(client.Object)
	before.SetLabels(nil)
	engine.Announce(before, after)
	f.passes(t, engine)
	if diff := cmp.Diff([]string{"late of owner-2 late", "labelled later of owner-3 labelled later"}, f.deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}

// Planned children are kept, however the cache changed since the listing.
func TestCensusDeletesNothingPlanned(t *testing.T) {
	t.Parallel()
	f := newFleet(3)
	engine := f.start(t)
	f.passes(t, engine)
	replaced := f.childOf(f.owners[0], &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: f.owners[0].Name}})
	replaced.SetUID("another")
	f.put(replaced)
	f.passes(t, engine)
	if len(f.deleted) > 0 {
		t.Errorf("deleted %v", f.deleted)
	}
}

// A plan with fewer children is compared with the existing children.
func TestCensusAfterAnotherPlan(t *testing.T) {
	t.Parallel()
	f := newFleet(3)
	second := f.leftover(f.owners[1], "second")
	full := f.plans[1]
	f.plans[1].Apply(second, apply.Once)
	engine := f.start(t)
	f.passes(t, engine)
	if len(f.deleted) > 0 {
		t.Errorf("deleted %v", f.deleted)
	}
	f.plans[1] = full
	f.passes(t, engine)
	if diff := cmp.Diff([]string{"second of owner-1 second"}, f.deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}

func TestCensusThatFails(t *testing.T) {
	t.Parallel()
	f := newFleet(2)
	f.leftover(f.owners[0], "left-over")
	f.broken = errors.New("no list")
	engine := f.start(t)
	for i, owner := range f.owners {
		result := engine.Apply(t.Context(), owner, f.plans[i])
		if result.PruneBlocked == nil || !errors.Is(result.PruneBlocked, f.broken) || result.RequeueAfter == 0 {
			t.Errorf("want a prune that is blocked and tried again, got %v, requeue after %s", result.PruneBlocked, result.RequeueAfter)
		}
	}
	if len(f.deleted) > 0 {
		t.Errorf("deleted %v", f.deleted)
	}
	f.broken = nil
	f.passes(t, engine)
	if len(f.deleted) != 1 {
		t.Errorf("deleted %v, want the one that is left over", f.deleted)
	}
}

// BenchmarkRestart measures the first reconciliation of every owner after a start, with and
// without announcements. The CPU time is that of the entire process.
func BenchmarkRestart(b *testing.B) {
	for _, n := range []int{1000, 4000} {
		f := newFleet(n)
		for _, announced := range slices.Sorted(maps.Keys(map[string]bool{"alone": false, "together": true})) {
			b.Run(fmt.Sprintf("owners=%d/%s", n, announced), func(b *testing.B) {
				b.ReportAllocs()
				begun := cpu()
				for b.Loop() {
					engine, err := engine.New(f, f, apply.Options{FieldManager: manager, Announced: announced == "together"})
					if err != nil {
						b.Fatal(err)
					}
					f.passes(b, engine)
				}
				b.ReportMetric(float64((cpu()-begun).Microseconds())/float64(b.N*n), "cpu-us/owner")
			})
		}
	}
}

func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
