package controller_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

func name(s string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: s} }

func object(namespace, name string, l map[string]string) client.Object {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: l}}
}

func parse(t testing.TB, s string) labels.Selector {
	t.Helper()
	selector, err := labels.Parse(s)
	if err != nil {
		t.Fatalf("selector %q: %v", s, err)
	}
	return selector
}

func TestConcerned(t *testing.T) {
	t.Parallel()
	colour := map[string]client.IndexerFunc{
		"colour": func(o client.Object) []string { return []string{o.GetAnnotations()["colour"]} },
	}
	painted := object("ns", "x", nil)
	painted.SetAnnotations(map[string]string{"colour": "red"})
	cases := map[string]struct {
		reason string
		reads  func(s *controller.Session)
		events []client.Object
		want   bool
	}{
		"Name": {
			reason: "a read by name is woken by that object",
			reads:  func(s *controller.Session) { s.Get("ns", "x") }, events: []client.Object{object("ns", "x", nil)}, want: true,
		},
		"OtherName": {
			reason: "and by no other",
			reads:  func(s *controller.Session) { s.Get("ns", "x") }, events: []client.Object{object("ns", "y", nil)},
		},
		"OtherNamespace": {
			reason: "nor by its namesake elsewhere",
			reads:  func(s *controller.Session) { s.Get("ns", "x") }, events: []client.Object{object("other", "x", nil)},
		},
		"ListNamespace": {
			reason: "a list without a selector is woken by everything in the namespace",
			reads:  func(s *controller.Session) { s.List("ns", nil, nil) },
			events: []client.Object{object("ns", "y", nil)}, want: true,
		},
		"ListOtherNamespace": {
			reason: "and by nothing elsewhere",
			reads:  func(s *controller.Session) { s.List("ns", nil, nil) }, events: []client.Object{object("other", "y", nil)},
		},
		"ListEverywhere": {
			reason: "a list of all namespaces is woken by each",
			reads:  func(s *controller.Session) { s.List("", labels.Everything(), nil) },
			events: []client.Object{object("other", "y", nil)}, want: true,
		},
		"Selector": {
			reason: "a selector is woken by what it matches",
			reads:  func(s *controller.Session) { s.List("ns", parse(t, "a=b,c"), nil) },
			events: []client.Object{object("ns", "y", map[string]string{"a": "b", "c": ""})}, want: true,
		},
		"SelectorMismatch": {
			reason: "one requirement that fails is enough",
			reads:  func(s *controller.Session) { s.List("ns", parse(t, "a=b,c"), nil) },
			events: []client.Object{object("ns", "y", map[string]string{"a": "b"})},
		},
		"Leaves": {
			reason: "an object that has left the selector is found by how it was",
			reads:  func(s *controller.Session) { s.List("ns", parse(t, "a=b"), nil) },
			events: []client.Object{object("ns", "y", map[string]string{"a": "b"}), object("ns", "y", nil)}, want: true,
		},
		"NotEquals": {
			reason: "a selector without an equality works as well",
			reads:  func(s *controller.Session) { s.List("ns", parse(t, "a!=b"), nil) },
			events: []client.Object{object("ns", "y", nil)}, want: true,
		},
		"Nothing": {
			reason: "the selector of nothing is not the one of everything, though they print alike",
			reads:  func(s *controller.Session) { s.List("ns", labels.Nothing(), nil) },
			events: []client.Object{object("ns", "y", nil)},
		},
		"Field": {
			reason: "an indexed field that matches",
			reads:  func(s *controller.Session) { s.List("ns", nil, fields.OneTermEqualSelector("colour", "red")) },
			events: []client.Object{painted}, want: true,
		},
		"FieldMismatch": {
			reason: "an indexed field that does not",
			reads:  func(s *controller.Session) { s.List("ns", nil, fields.OneTermEqualSelector("colour", "blue")) },
			events: []client.Object{painted},
		},
		"FieldLeaves": {
			reason: "an object whose field has changed is found by how it was",
			reads:  func(s *controller.Session) { s.List("ns", nil, fields.OneTermEqualSelector("colour", "red")) },
			events: []client.Object{painted, object("ns", "x", nil)}, want: true,
		},
		"FieldEverywhere": {
			reason: "a list of all namespaces by a field",
			reads:  func(s *controller.Session) { s.List("", nil, fields.OneTermEqualSelector("colour", "red")) },
			events: []client.Object{painted}, want: true,
		},
		"FieldOtherNamespace": {
			reason: "a field that matches in another namespace",
			reads:  func(s *controller.Session) { s.List("other", nil, fields.OneTermEqualSelector("colour", "red")) },
			events: []client.Object{painted},
		},
		"FieldNotEquals": {
			reason: "a field that must differ",
			reads:  func(s *controller.Session) { s.List("ns", nil, fields.OneTermNotEqualSelector("colour", "red")) },
			events: []client.Object{painted},
		},
		"FieldAndLabel": {
			reason: "a field that matches beside a label that does not",
			reads: func(s *controller.Session) {
				s.List("ns", parse(t, "a=b"), fields.OneTermEqualSelector("colour", "red"))
			},
			events: []client.Object{painted},
		},
		"Fields": {
			reason: "of two fields both have to match",
			reads: func(s *controller.Session) {
				s.List("ns", nil, fields.SelectorFromSet(fields.Set{"colour": "red", "metadata.name": "y"}))
			},
			events: []client.Object{painted},
		},
		"LabelIn": {
			reason: "a label with one of several values",
			reads:  func(s *controller.Session) { s.List("ns", parse(t, "a in (b,c)"), nil) },
			events: []client.Object{object("ns", "y", map[string]string{"a": "c"})}, want: true,
		},
		"LabelExists": {
			reason: "a label with any value",
			reads:  func(s *controller.Session) { s.List("ns", parse(t, "a"), nil) },
			events: []client.Object{object("ns", "y", map[string]string{"a": "c"})}, want: true,
		},
		"LabelGreater": {
			reason: "a label that is compared",
			reads:  func(s *controller.Session) { s.List("ns", parse(t, "a>3"), nil) },
			events: []client.Object{object("ns", "y", map[string]string{"a": "4"})}, want: true,
		},
		"UnknownField": {
			reason: "a field that cannot be looked up wakes rather than misses",
			reads:  func(s *controller.Session) { s.List("ns", nil, fields.OneTermEqualSelector("size", "1")) },
			events: []client.Object{painted}, want: true,
		},
		"MetadataName": {
			reason: "the name is a field that all objects have",
			reads:  func(s *controller.Session) { s.List("ns", nil, fields.OneTermEqualSelector("metadata.name", "z")) },
			events: []client.Object{painted},
		},
	}
	for label, tc := range cases {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			tracker := controller.NewTracker(colour)
			tracker.Pass(name("owner"), tc.reads)
			var want []types.NamespacedName
			if tc.want {
				want = []types.NamespacedName{name("owner")}
			}
			if diff := cmp.Diff(want, tracker.Concerned(tc.events...)); diff != "" {
				t.Errorf("%s: (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestConcernedOnce reads one object in many ways: its event still concerns the owner once.
func TestConcernedOnce(t *testing.T) {
	t.Parallel()
	tracker := controller.NewTracker(nil)
	tracker.Pass(name("owner"), func(s *controller.Session) {
		s.Get("ns", "x")
		s.Get("ns", "x")
		s.List("ns", nil, nil)
		s.List("", parse(t, "a in (b)"), nil)
	})
	x := object("ns", "x", map[string]string{"a": "b"})
	if diff := cmp.Diff([]types.NamespacedName{name("owner")}, tracker.Concerned(x, x)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPass follows what is remembered through passes: during one the old and the new, afterwards the new.
func TestPass(t *testing.T) {
	t.Parallel()
	tracker := controller.NewTracker(nil)
	tracker.Pass(name("owner"), func(s *controller.Session) { s.Get("ns", "old"); s.Get("ns", "both") })
	check := func(when string, want map[string]bool) {
		t.Helper()
		for object1, woken := range want {
			if got := len(tracker.Concerned(object("ns", object1, nil))) == 1; got != woken {
				t.Errorf("%s: an event of %q wakes the owner: %t, want %t", when, object1, got, woken)
			}
		}
	}
	pass := tracker.Begin(name("owner"))
	pass.Get("ns", "new")
	check("during the pass", map[string]bool{"old": true, "both": true, "new": true})
	pass.Get("ns", "both")
	pass.End()
	check("after the pass", map[string]bool{"old": false, "both": true, "new": true})

	writes := tracker.BeginWrites(name("owner"))
	writes.Get("ns", "both")
	writes.Get("ns", "child")
	writes.End()
	tracker.Pass(name("owner"), func(s *controller.Session) { s.Get("ns", "new") })
	check("what is written stays when it is not read any more",
		map[string]bool{"both": true, "new": true, "child": true})
	tracker.Forget(name("owner"))
	check("a forgotten owner", map[string]bool{"both": false, "new": false, "child": false})
	if owners, edges, entries := tracker.Size(); owners+edges+entries != 0 {
		t.Errorf("%d owners, %d edges and %d entries are left", owners, edges, entries)
	}
}

// fieldReaders returns a tracker of owners that each list by a value of a field of their own, half of them in all
// namespaces, and counts the calls of the extractor.
func fieldReaders(owners int) (tracker *controller.Tracker, calls *int) {
	calls = new(int)
	tracker = controller.NewTracker(map[string]client.IndexerFunc{"colour": func(o client.Object) []string {
		*calls++
		return coloursOf(o)
	}})
	for i := range owners {
		tracker.Pass(name(fmt.Sprint("owner-", i)), func(s *controller.Session) {
			s.List([]string{"ns", ""}[i%2], nil, fields.OneTermEqualSelector("colour", fmt.Sprint("colour-", i)))
		})
	}
	return tracker, calls
}

// TestConcernedByField: an event runs the extractor once for the object before and once for it after, however many owners
// list by the field, and concerns those whose value it has.
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

// TestConcernedManyValues: an object that gives a value ten thousand times concerns who asks for it once.
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
func TestNoLeak(t *testing.T) {
	t.Parallel()
	tracker := controller.NewTracker(nil)
	for i := range 10_000 {
		tracker.Pass(name(fmt.Sprint("owner-", i)), func(s *controller.Session) {
			s.Get("ns", "shared")
			s.Get("ns", fmt.Sprint("own-", i))
			s.List("ns", parse(t, fmt.Sprint("owner=", i)), nil)
		})
	}
	if owners, edges, _ := tracker.Size(); owners != 10_000 || edges != 30_000 {
		t.Errorf("%d owners with %d reads, want 10000 with 30000", owners, edges)
	}
	if got := len(tracker.Concerned(object("ns", "shared", nil))); got != 10_000 {
		t.Errorf("the shared object concerns %d owners, want 10000", got)
	}
	for i := range 10_000 {
		tracker.Forget(name(fmt.Sprint("owner-", i)))
	}
	if owners, edges, entries := tracker.Size(); owners+edges+entries != 0 {
		t.Errorf("%d owners, %d edges and %d entries are left", owners, edges, entries)
	}
}

// TestObservedNamespaces: namespaces that come and go leave no more than a bounded rest, and a known one is no new one.
func TestObservedNamespaces(t *testing.T) {
	t.Parallel()
	see := func(o *controller.Observed, namespace, version string) {
		shown := object(namespace, "x", nil)
		shown.SetResourceVersion(version)
		o.See(shown)
	}
	var o controller.Observed
	for i := range controller.MaxNamespaces {
		see(&o, fmt.Sprintf("ns-%d", i), "1")
	}
	see(&o, "ns-0", "2")
	if !o.Reached("ns-0", "2") || !o.Reached("ns-1", "1") || o.Size() != controller.MaxNamespaces {
		t.Errorf("an event of a known namespace cost what was known of others: %d are left", o.Size())
	}
	see(&o, "one-more", "3")
	if !o.Reached("one-more", "3") || o.Reached("ns-1", "1") || o.Size() != 1 {
		t.Errorf("one namespace too many: want it alone, got %d", o.Size())
	}
}
