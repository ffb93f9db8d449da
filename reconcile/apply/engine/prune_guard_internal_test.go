package engine

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// TestPrune checks for each situation which objects are pruned, and why the others are kept.
func TestPrune(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	configMap := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	surplus := func(names ...string) []memberObject {
		out := make([]memberObject, len(names))
		for i, name := range names {
			id := applyset.ObjectID{GroupKind: schema.GroupKind{Kind: "ConfigMap"}, Key: types.NamespacedName{Namespace: "default", Name: name}}
			out[i] = memberObject{id: id, uid: types.UID(name), created: now.Add(-time.Hour)}
		}
		return out
	}
	with := func(change func(*memberObject), members ...memberObject) []memberObject {
		for i := range members {
			change(&members[i])
		}
		return members
	}
	data := func(m *memberObject) { m.holdsData = true }
	deleting := func(m *memberObject) { m.deleting = true }
	newer := func(m *memberObject) { m.unknown, m.created = true, now.Add(time.Second) }
	tokenOf := func(members []memberObject) string {
		var names []string
		for _, m := range members {
			names = append(names, m.id.String())
		}
		return token(names...)
	}
	all := surplus("a", "b", "c", "d")

	for name, tc := range map[string]struct {
		surplus []memberObject
		members int // number of existing members
		given   func(*pruneObservation)
		deleted []string
		reason  apply.Reason
	}{
		"nothing":                    {nil, 4, nil, nil, ""},
		"fewer than the minimum":     {surplus("a", "b"), 2, nil, []string{"a", "b"}, ""},
		"as much as the share":       {surplus("a", "b", "c"), 6, nil, []string{"a", "b", "c"}, ""},
		"more than the share":        {surplus("a", "b", "c"), 5, nil, nil, apply.ReasonTooMany},
		"more than the share, small": {surplus("a", "b", "c"), 5, func(o *pruneObservation) { o.options.PruneMinimum = 4 }, []string{"a", "b", "c"}, ""},
		"some are being deleted": {
			append(with(deleting, surplus("a", "b")...), surplus("c", "d")...), 4, nil,
			[]string{"a", "b", "c", "d"},
			"",
		},
		"too many, and some are being deleted": {
			append(with(deleting, surplus("a")...), surplus("b", "c", "d")...), 4, nil,
			[]string{"a"},
			apply.ReasonTooMany,
		},
		"one holds data": {
			append(with(data, surplus("a")...), surplus("b")...), 9, nil,
			[]string{"b"},
			apply.ReasonHoldsData,
		},
		"one holds data and is being deleted": {with(deleting, with(data, surplus("a")...)...), 9, nil, []string{"a"}, ""},
		"a change explains it": {
			append(with(data, surplus("a")...), surplus("b", "c", "d")...), 4,
			func(o *pruneObservation) { o.explained = true },
			[]string{"a", "b", "c", "d"},
			"",
		},
		"the plan withdraws everything": {all, 4, func(o *pruneObservation) { o.plan.Policy = apply.Withdraw }, []string{"a", "b", "c", "d"}, ""},
		"the owner is being deleted":    {with(data, surplus("a", "b", "c")...), 3, func(o *pruneObservation) { o.finalize = true }, []string{"a", "b", "c"}, ""},
		"the owner allows exactly this": {all, 4, func(o *pruneObservation) { o.allowPrune = tokenOf(all) }, []string{"a", "b", "c", "d"}, ""},
		"the owner allows another prune": {
			all, 4, func(o *pruneObservation) { o.allowPrune = tokenOf(all[:3]) },
			nil, apply.ReasonTooMany,
		},
		"a child of a group allows exactly this": {
			with(func(m *memberObject) { m.allowPrune = tokenOf(all) }, surplus("a", "b", "c", "d")...), 4,
			func(o *pruneObservation) { o.group = &groupOfMaps{} },
			[]string{"a", "b", "c", "d"},
			"",
		},
		"another process made one since": {
			append(with(newer, surplus("a")...), surplus("b")...), 9, nil,
			[]string{"b"},
			apply.ReasonNewer,
		},
		"another process made one since, and a change explains it": {
			append(with(newer, surplus("a")...), surplus("b")...), 9,
			func(o *pruneObservation) { o.explained = true },
			[]string{"b"},
			apply.ReasonNewer,
		},
		"another process made one, and it was there with the plan": {
			with(newer, surplus("a")...), 9,
			func(o *pruneObservation) { o.seen = map[types.UID]struct{}{"a": {}} },
			[]string{"a"},
			"",
		},
		"the children of a deleted owner stay": {
			all, 4, func(o *pruneObservation) { o.finalize, o.orphaned = true, true },
			nil, "",
		},
		"garbage collection reaches one": {
			append(with(func(m *memberObject) { m.reached = true }, surplus("a")...), surplus("b")...), 2,
			func(o *pruneObservation) { o.finalize = true },
			[]string{"b"},
			"",
		},
		"one has opted out": {append(with(func(m *memberObject) { m.optedOut = true }, surplus("a")...), surplus("b")...), 9, nil, []string{"b"}, ""},
		"the kind is kept":  {surplus("a"), 9, func(o *pruneObservation) { o.plan.KeptKinds = []schema.GroupVersionKind{configMap} }, nil, ""},
		"the kind is unknown": {surplus("a"), 9, func(o *pruneObservation) {
			o.unknown = map[schema.GroupKind]error{configMap.GroupKind(): io.ErrUnexpectedEOF}
		}, nil, apply.ReasonUnknown},
		"the inventory cannot be parsed": {
			surplus("a"), 9, func(o *pruneObservation) { o.unreadable = io.ErrUnexpectedEOF },
			[]string{"a"},
			apply.ReasonUnknown,
		},
		"one comes after another one": {
			append(surplus("a"), with(func(m *memberObject) { m.after = []applyset.ObjectID{surplus("a")[0].id} }, surplus("b")...)...), 9, nil,
			[]string{"b"},
			"",
		},
		"one may have lost its proof": {
			surplus("a"), 9, func(o *pruneObservation) { o.unproven = surplus("b") },
			[]string{"a"},
			apply.ReasonUnproven,
		},
		"one has lost its proof, and the owner allows it": {
			surplus("a"), 9, func(o *pruneObservation) {
				o.unproven = surplus("b")
				o.owner.SetAnnotations(map[string]string{o.keys.AdoptRestored: token("delete", "owner", "b")})
			},
			[]string{"a", "b"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, keys := newConfig(apply.Options{PruneShare: 0.5, PruneMinimum: 3}), applyset.StandardKeys(apply.DefaultDomain)
			o := &pruneObservation{
				facts: &facts{config: &c, keys: &keys, now: now, owner: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "owner"}}},
				plan:  &apply.Plan{}, members: slices.Clone(tc.surplus), existed: tc.members - len(tc.surplus), since: now,
			}
			if tc.given != nil {
				tc.given(o)
			}
			d := decidePrune(o)
			var deleted []string
			for _, m := range d.surplus {
				if m.result.Verb == apply.VerbPrune || m.deleting {
					deleted = append(deleted, m.id.Key.Name)
				}
			}
			var reason apply.Reason
			if d.blocked != nil {
				reason = d.blocked.Reason
			}
			if diff := cmp.Diff(tc.deleted, deleted); diff != "" {
				t.Errorf("deleted (-want +got):\n%s", diff)
			}
			if reason != tc.reason {
				t.Errorf("kept because of %q, want %q", reason, tc.reason)
			}
		})
	}
}

// groupOfMaps is a group, which is not an object.
type groupOfMaps struct{ metav1.PartialObjectMetadata }

var _ groupkey.Group = (*groupOfMaps)(nil)

func (*groupOfMaps) ChildKinds() []schema.GroupVersionKind { return nil }

// TestGuardOpens checks for each sequence of plans whether a change explains the prune of the last one.
func TestGuardOpens(t *testing.T) {
	t.Parallel()
	type step struct {
		generation int64
		inputs     string
		identity   uint64 // identifies the set of planned objects
	}
	for name, tc := range map[string]struct {
		steps []step
		want  bool
	}{
		"the first plan of a new owner":                {[]step{{1, "", 1}}, false},
		"another plan without a change":                {[]step{{1, "", 1}, {1, "", 2}}, false},
		"another plan after a change of the spec":      {[]step{{1, "", 1}, {2, "", 2}}, true},
		"another plan after a change of the inputs":    {[]step{{1, "a", 1}, {1, "b", 2}}, true},
		"the same plan again, not carried out yet":     {[]step{{1, "", 1}, {2, "", 2}, {2, "", 2}}, true},
		"a second plan after one change":               {[]step{{1, "", 1}, {2, "", 2}, {2, "", 3}}, false},
		"the generation of a cache that has gone back": {[]step{{2, "", 1}, {1, "", 2}}, false},
		"the change that a cache has shown before":     {[]step{{2, "", 1}, {1, "", 1}, {2, "", 2}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			opened := false
			for _, step := range tc.steps {
				s.owner.Generation = step.generation
				p, err := s.engine.env.begin(t.Context(), s.owner, &apply.Plan{Inputs: step.inputs}, s.engine.memory.Owner(s.owner))
				s.check(err)
				p.identity = step.identity
				pr := &pruning{pass: p}
				pr.notePlan()
				opened = pr.followsChange()
				p.end()
			}
			if opened != tc.want {
				t.Errorf("the change explains the last plan: %t, want %t", opened, tc.want)
			}
		})
	}
}
