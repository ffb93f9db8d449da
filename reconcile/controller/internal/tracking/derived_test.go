package tracking_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/derived"
)

// named is a derived value with a name.
type named string

func (n named) String() string { return string(n) }

// TestReadsOfDerivedValues checks that an explanation names a derived value and the objects that it is computed from.
func TestReadsOfDerivedValues(t *testing.T) {
	t.Parallel()
	tracker := tracking.Fixture(nil)
	value := func() *derived.Value { return derived.New(derived.Source{}) }
	tracker.Pass(name("owner"), func(s *tracking.Reads) {
		s.Derived(named("zones"), "", nil, value)
		s.Derived(named("quotas"), "shop", labels.Set{"app": "web"}.AsSelector(), value)
	})
	got, _ := tracker.ReadsOf(name("owner"), 9)
	if diff := cmp.Diff([]string{"zones, derived from all", "quotas, derived from all in shop with labels app=web"}, got); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
}

// TestChangedOfASelection checks that an event updates only the values whose selection contains the object before or after the event.
func TestChangedOfASelection(t *testing.T) {
	t.Parallel()
	tracker, gets := tracking.Fixture(nil), 0
	tracker.Pass(name("owner"), func(s *tracking.Reads) {
		value := s.Derived(named("quotas"), "ns", labels.Set{"app": "web"}.AsSelector(), func() *derived.Value {
			return derived.New(derived.Source{
				List: func(context.Context) ([]client.Object, error) { return nil, nil },
				Get: func(context.Context, types.NamespacedName) (client.Object, error) {
					gets++
					return object("ns", "x", nil), nil
				},
				Each:  func(client.Object) any { return gets },
				Merge: func(parts []any) any { return parts }, MaxBytes: 1 << 10,
			})
		})
		if _, err := value.Get(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	in, out := object("ns", "x", map[string]string{"app": "web"}), object("ns", "x", nil)
	elsewhere := object("other", "x", map[string]string{"app": "web"})
	for i, event := range []struct {
		objects []client.Object
		looked  bool
	}{
		{[]client.Object{in, in}, true},
		{[]client.Object{in, out}, true},
		{[]client.Object{out, in}, true},
		{[]client.Object{out, out}, false},
		{[]client.Object{elsewhere, elsewhere}, false},
	} {
		before := gets
		owners := tracker.Changed(t.Context(), event.objects...)
		if looked := gets > before; looked != event.looked || looked != (len(owners) == 1) {
			t.Errorf("event %d: the object is read %t, want %t, and wakes %v", i, looked, event.looked, owners)
		}
		if wanted := tracker.Wanted(event.objects[0]); wanted != (event.objects[0] == in) {
			t.Errorf("event %d: the object is wanted: %t", i, wanted)
		}
	}
}
