package tracking_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
)

// modelRead is a read in the model of TestModel.
type modelRead struct{ get, namespace, labels, fields string }

func (r modelRead) concerns(t *testing.T, o client.Object) bool {
	if r.get != "" {
		return r.get == o.GetName() && o.GetNamespace() == "ns"
	}
	if r.namespace != "" && r.namespace != o.GetNamespace() || !parse(t, r.labels).Matches(labels.Set(o.GetLabels())) {
		return false
	}
	f, err := fields.ParseSelector(r.fields)
	if err != nil {
		t.Fatal(err)
	}
	for _, requirement := range f.Requirements() {
		has := slices.Contains(coloursOf(o), requirement.Value)
		if has == (requirement.Operator == selection.NotEquals) {
			return false
		}
	}
	return true
}

// coloursOf is an index function of several values.
func coloursOf(o client.Object) []string { return strings.Fields(o.GetAnnotations()["colours"]) }

// TestModel compares the tracker with a simple model in random reconciliations.
func TestModel(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	tracker := tracking.Fixture(map[string]client.IndexerFunc{"colour": coloursOf})
	model := map[types.NamespacedName]map[modelRead]bool{}
	selectors := []string{"", "a=1", "a=2", "b", "a=1,b=1", "a!=1", "a in (1,2)", "!b", "a>1", "b notin (1,2)"}
	colours := []string{"", "", "colour=red", "colour=blue", "colour!=red", "colour=red,colour=blue"}
	objects := make([]client.Object, 40)
	for i := range objects {
		l := map[string]string{}
		for _, key := range []string{"a", "b"} {
			if value := random.IntN(4); value > 0 {
				l[key] = strconv.Itoa(value)
			}
		}
		objects[i] = object([]string{"ns", "other"}[random.IntN(2)], strconv.Itoa(i), l)
		objects[i].SetAnnotations(map[string]string{"colours": []string{"", "red", "blue red red", "green blue"}[random.IntN(4)]})
	}
	for range 5000 {
		owner := name(fmt.Sprint("owner-", random.IntN(9)))
		if random.IntN(5) == 0 {
			tracker.Forget(owner)
			delete(model, owner)
		} else {
			reads := map[modelRead]bool{}
			tracker.Pass(owner, func(s *tracking.Reads) {
				for range random.IntN(4) {
					if random.IntN(3) == 0 {
						get := strconv.Itoa(random.IntN(len(objects)))
						s.Get("ns", get)
						reads[modelRead{get: get}] = true
						continue
					}
					read := modelRead{
						namespace: []string{"", "ns", "other"}[random.IntN(3)],
						labels:    selectors[random.IntN(len(selectors))], fields: colours[random.IntN(len(colours))],
					}
					s.List(read.namespace, parse(t, read.labels), fields.ParseSelectorOrDie(read.fields))
					reads[read] = true
				}
			})
			model[owner] = reads
		}
		o := objects[random.IntN(len(objects))]
		want := map[types.NamespacedName]bool{}
		for owner, reads := range model {
			for read := range reads {
				if read.concerns(t, o) {
					want[owner] = true
				}
			}
		}
		got := map[types.NamespacedName]bool{}
		for _, owner := range tracker.Concerned(o) {
			got[owner] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("owners that %v concerns (-want +got):\n%s", o, diff)
		}
	}
	for owner := range model {
		tracker.Forget(owner)
	}
	if owners, edges, entries := tracker.Size(); owners+edges+entries != 0 {
		t.Errorf("%d owners, %d edges and %d entries are left", owners, edges, entries)
	}
}
