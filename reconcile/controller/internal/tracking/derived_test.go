package tracking_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/derived"
)

// named is the name of a value.
type named string

func (n named) String() string { return string(n) }

// TestReadsOfDerivedValues: an explanation names the value, and the objects that it is computed from.
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
