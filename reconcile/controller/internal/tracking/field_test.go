package tracking_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
)

// fieldReaders returns a tracker of owners that each list by a different value of a field, half of them in all
// namespaces, and counts the calls of the extractor.
func fieldReaders(owners int) (tracker *tracking.Passes, calls *int) {
	calls = new(int)
	tracker = tracking.Fixture(map[string]client.IndexerFunc{"colour": func(o client.Object) []string {
		*calls++
		return coloursOf(o)
	}})
	for i := range owners {
		tracker.Pass(name(fmt.Sprint("owner-", i)), func(s *tracking.Reads) {
			s.List([]string{"ns", ""}[i%2], nil, fields.OneTermEqualSelector("colour", fmt.Sprint("colour-", i)))
		})
	}
	return tracker, calls
}

// TestConcernedByField checks that an event runs the extractor once for the old and once for the new object, however many owners
// list by the field, and enqueues the owners that list its value.
func TestConcernedByField(t *testing.T) {
	t.Parallel()
	for _, owners := range []int{4, 100, 5000} {
		tracker, calls := fieldReaders(owners)
		before, after := object("ns", "x", nil), object("ns", "x", nil)
		before.SetAnnotations(map[string]string{"colours": "colour-1 colour-2"})
		after.SetAnnotations(map[string]string{"colours": "colour-2 colour-3 none"})
		want := []types.NamespacedName{name("owner-1"), name("owner-2"), name("owner-3")}
		if diff := cmp.Diff(want, tracker.Concerned(before, after)); diff != "" {
			t.Errorf("%d owners (-want +got):\n%s", owners, diff)
		}
		if *calls != 2 {
			t.Errorf("%d owners: the extractor is called %d times for an event with two objects", owners, *calls)
		}
	}
}

// TestConcernedManyValues checks that an object that returns a value ten thousand times enqueues an owner once.
func TestConcernedManyValues(t *testing.T) {
	t.Parallel()
	tracker, calls := fieldReaders(3)
	o := object("ns", "x", nil)
	o.SetAnnotations(map[string]string{"colours": strings.Repeat("colour-2 ", 10_000)})
	if diff := cmp.Diff([]types.NamespacedName{name("owner-2")}, tracker.Found(o)); diff != "" {
		t.Errorf("before duplicates are removed (-want +got):\n%s", diff)
	}
	if *calls != 1 {
		t.Errorf("the extractor is called %d times", *calls)
	}
}

// TestNoLeak has ten thousand owners come and go.
// FuzzConcerned holds the index to the selector itself: an object concerns an owner when the selector matches it.
func FuzzConcerned(f *testing.F) {
	for _, seed := range []string{"a=b", "a!=b", "a in (b,c)", "a notin (b)", "a,!c", "a=b,c=d", "", "a>1"} {
		f.Add(seed, "a", "b")
	}
	f.Fuzz(func(t *testing.T, text, key, value string) {
		selector, err := labels.Parse(text)
		if err != nil {
			t.Skip()
		}
		tracker := tracking.Fixture(nil)
		tracker.Pass(name("owner"), func(s *tracking.Reads) { s.List("ns", selector, nil) })
		o := object("ns", "x", map[string]string{key: value})
		if got, want := len(tracker.Concerned(o)) == 1, selector.Matches(labels.Set(o.GetLabels())); got != want {
			t.Errorf("selector %q and label %s=%s: concerned %t, matches %t", text, key, value, got, want)
		}
		tracker.Forget(name("owner"))
		if owners, edges, entries := tracker.Size(); owners+edges+entries != 0 {
			t.Errorf("selector %q leaves %d owners, %d edges and %d entries", text, owners, edges, entries)
		}
	})
}
