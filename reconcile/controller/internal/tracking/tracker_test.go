package tracking_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
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
		reads  func(s *tracking.Reads)
		events []client.Object
		want   bool
	}{
		"Name": {
			reason: "a read by name is woken by that object",
			reads:  func(s *tracking.Reads) { s.Get("ns", "x") }, events: []client.Object{object("ns", "x", nil)}, want: true,
		},
		"OtherName": {
			reason: "and by no other",
			reads:  func(s *tracking.Reads) { s.Get("ns", "x") }, events: []client.Object{object("ns", "y", nil)},
		},
		"OtherNamespace": {
			reason: "nor by its namesake elsewhere",
			reads:  func(s *tracking.Reads) { s.Get("ns", "x") }, events: []client.Object{object("other", "x", nil)},
		},
		"ListNamespace": {
			reason: "a list without a selector is woken by everything in the namespace",
			reads:  func(s *tracking.Reads) { s.List("ns", nil, nil) },
			events: []client.Object{object("ns", "y", nil)}, want: true,
		},
		"ListOtherNamespace": {
			reason: "and by nothing elsewhere",
			reads:  func(s *tracking.Reads) { s.List("ns", nil, nil) }, events: []client.Object{object("other", "y", nil)},
		},
		"ListEverywhere": {
			reason: "a list of all namespaces is woken by each",
			reads:  func(s *tracking.Reads) { s.List("", labels.Everything(), nil) },
			events: []client.Object{object("other", "y", nil)}, want: true,
		},
		"Selector": {
			reason: "a selector is woken by what it matches",
			reads:  func(s *tracking.Reads) { s.List("ns", parse(t, "a=b,c"), nil) },
			events: []client.Object{object("ns", "y", map[string]string{"a": "b", "c": ""})}, want: true,
		},
		"SelectorMismatch": {
			reason: "one requirement that fails is enough",
			reads:  func(s *tracking.Reads) { s.List("ns", parse(t, "a=b,c"), nil) },
			events: []client.Object{object("ns", "y", map[string]string{"a": "b"})},
		},
		"Leaves": {
			reason: "an object that has left the selector is found by how it was",
			reads:  func(s *tracking.Reads) { s.List("ns", parse(t, "a=b"), nil) },
			events: []client.Object{object("ns", "y", map[string]string{"a": "b"}), object("ns", "y", nil)}, want: true,
		},
		"NotEquals": {
			reason: "a selector without an equality works as well",
			reads:  func(s *tracking.Reads) { s.List("ns", parse(t, "a!=b"), nil) },
			events: []client.Object{object("ns", "y", nil)}, want: true,
		},
		"Nothing": {
			reason: "the selector of nothing is not the one of everything, though they print alike",
			reads:  func(s *tracking.Reads) { s.List("ns", labels.Nothing(), nil) },
			events: []client.Object{object("ns", "y", nil)},
		},
		"Field": {
			reason: "an indexed field that matches",
			reads:  func(s *tracking.Reads) { s.List("ns", nil, fields.OneTermEqualSelector("colour", "red")) },
			events: []client.Object{painted}, want: true,
		},
		"FieldMismatch": {
			reason: "an indexed field that does not",
			reads:  func(s *tracking.Reads) { s.List("ns", nil, fields.OneTermEqualSelector("colour", "blue")) },
			events: []client.Object{painted},
		},
		"FieldLeaves": {
			reason: "an object whose field has changed is found by how it was",
			reads:  func(s *tracking.Reads) { s.List("ns", nil, fields.OneTermEqualSelector("colour", "red")) },
			events: []client.Object{painted, object("ns", "x", nil)}, want: true,
		},
		"FieldEverywhere": {
			reason: "a list of all namespaces by a field",
			reads:  func(s *tracking.Reads) { s.List("", nil, fields.OneTermEqualSelector("colour", "red")) },
			events: []client.Object{painted}, want: true,
		},
		"FieldOtherNamespace": {
			reason: "a field that matches in another namespace",
			reads:  func(s *tracking.Reads) { s.List("other", nil, fields.OneTermEqualSelector("colour", "red")) },
			events: []client.Object{painted},
		},
		"FieldNotEquals": {
			reason: "a field that must differ",
			reads:  func(s *tracking.Reads) { s.List("ns", nil, fields.OneTermNotEqualSelector("colour", "red")) },
			events: []client.Object{painted},
		},
		"FieldAndLabel": {
			reason: "a field that matches beside a label that does not",
			reads: func(s *tracking.Reads) {
				s.List("ns", parse(t, "a=b"), fields.OneTermEqualSelector("colour", "red"))
			},
			events: []client.Object{painted},
		},
		"Fields": {
			reason: "of two fields both have to match",
			reads: func(s *tracking.Reads) {
				s.List("ns", nil, fields.SelectorFromSet(fields.Set{"colour": "red", "metadata.name": "y"}))
			},
			events: []client.Object{painted},
		},
		"LabelIn": {
			reason: "a label with one of several values",
			reads:  func(s *tracking.Reads) { s.List("ns", parse(t, "a in (b,c)"), nil) },
			events: []client.Object{object("ns", "y", map[string]string{"a": "c"})}, want: true,
		},
		"LabelExists": {
			reason: "a label with any value",
			reads:  func(s *tracking.Reads) { s.List("ns", parse(t, "a"), nil) },
			events: []client.Object{object("ns", "y", map[string]string{"a": "c"})}, want: true,
		},
		"LabelGreater": {
			reason: "a label that is compared",
			reads:  func(s *tracking.Reads) { s.List("ns", parse(t, "a>3"), nil) },
			events: []client.Object{object("ns", "y", map[string]string{"a": "4"})}, want: true,
		},
		"UnknownField": {
			reason: "a field that cannot be looked up wakes rather than misses",
			reads:  func(s *tracking.Reads) { s.List("ns", nil, fields.OneTermEqualSelector("size", "1")) },
			events: []client.Object{painted}, want: true,
		},
		"MetadataName": {
			reason: "the name is a field that all objects have",
			reads:  func(s *tracking.Reads) { s.List("ns", nil, fields.OneTermEqualSelector("metadata.name", "z")) },
			events: []client.Object{painted},
		},
	}
	for label, tc := range cases {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			tracker := tracking.Fixture(colour)
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

// TestConcernedOnce checks that the event of an object that an owner reads in several ways enqueues the owner once.
func TestConcernedOnce(t *testing.T) {
	t.Parallel()
	tracker := tracking.Fixture(nil)
	tracker.Pass(name("owner"), func(s *tracking.Reads) {
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

// TestPass checks that the tracker uses the old and the new reads during a reconciliation, and the new ones afterwards.
func TestPass(t *testing.T) {
	t.Parallel()
	tracker := tracking.Fixture(nil)
	tracker.Pass(name("owner"), func(s *tracking.Reads) { s.Get("ns", "old"); s.Get("ns", "both") })
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
	tracker.Pass(name("owner"), func(s *tracking.Reads) { s.Get("ns", "new") })
	check("what is written stays when it is not read any more",
		map[string]bool{"both": true, "new": true, "child": true})
	tracker.Forget(name("owner"))
	check("a forgotten owner", map[string]bool{"both": false, "new": false, "child": false})
	if owners, edges, entries := tracker.Size(); owners+edges+entries != 0 {
		t.Errorf("%d owners, %d edges and %d entries are left", owners, edges, entries)
	}
}

func TestNoLeak(t *testing.T) {
	t.Parallel()
	tracker := tracking.Fixture(nil)
	for i := range 10_000 {
		tracker.Pass(name(fmt.Sprint("owner-", i)), func(s *tracking.Reads) {
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

// TestReads checks the description of each read in an explanation.
func TestReads(t *testing.T) {
	t.Parallel()
	tracker := tracking.Fixture(nil)
	tracker.Pass(name("owner"), func(s *tracking.Reads) {
		s.Get("ns", "x")
		s.Get("", "node")
		s.List("", nil, nil)
		s.List("ns", parse(t, "a=b"), fields.OneTermEqualSelector("colour", "red"))
	})
	want := []string{"ns/x", "node", "all", "all in ns with labels a=b with fields colour=red"}
	got, more := tracker.ReadsOf(name("owner"), 4)
	if diff := cmp.Diff(want, got); diff != "" || more != 0 {
		t.Errorf("reads (-want +got), and %d more:\n%s", more, diff)
	}
	if got, more := tracker.ReadsOf(name("owner"), 1); len(got) != 1 || more != 3 {
		t.Errorf("want one read and 3 more, got %q and %d more", got, more)
	}
	if got, more := tracker.ReadsOf(name("nobody"), 4); got != nil || more != 0 {
		t.Errorf("want nothing of an owner without reads, got %q and %d more", got, more)
	}
}
