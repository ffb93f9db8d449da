package engine

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

const (
	ownSet = "set-of-shop"
	// appliedFields are the fields of settings that the engine owns; markFields are those without the data.
	appliedFields  = `{"f:data":{"f:color":{}},` + metadataFields
	markFields     = `{` + metadataFields
	metadataFields = `"f:metadata":{"f:labels":{"f:applyset.kubernetes.io/part-of":{}},"f:ownerReferences":{"k:{\"uid\":\"1\"}":{}}}}`
)

// sight builds an observation from the observed object and the memory of the engine.
type sight struct {
	observation
	object *corev1.ConfigMap // nil if it does not exist
	memory memory.Child
	look   memory.Look
}

// newSight returns the sight of a process after its start: the ConfigMap "settings" exists as planned, in version 10, as the child of
// the owner "shop".
func newSight(opts ...apply.ChildOption) *sight {
	gvk := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	goType := reflect.TypeFor[corev1.ConfigMap]()
	kind := &intent.Kind{GVK: gvk, Namespaced: true, GoType: goType, Schema: fieldset.SchemaOf(gvk, goType, clientgoscheme.Scheme)}
	c := newConfig(apply.Options{
		FieldManager: "operator", FormerManagers: []string{"before"}, OptOutAnnotation: "example.com/managed",
		LagDeadline: 10 * time.Second, ContestInterval: 5 * time.Minute,
	})
	f := &facts{
		config: &c, ownerKind: kind, setID: ownSet, sets: memory.Sets{Standard: ownSet}, contributor: "operator:1",
		owner: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default", UID: "1"}},
		now:   time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
	}
	plan := planOf(settings(), opts...)
	planned := &plan.Children[0]
	member := planned.Mode == apply.Own || planned.Mode == apply.Once
	s := &sight{observation: observation{facts: f, plannedChild: plannedChild{
		planned: planned, kind: kind, id: applyset.ObjectID{GroupKind: gvk.GroupKind(), Key: client.ObjectKeyFromObject(planned.Object)},
		hash: c.hasher.Child(planned), member: member, reach: member, manager: "operator",
	}}}
	s.look = memory.Look{Intent: s.hash, Now: f.now, Deadline: c.options.LagDeadline, Trust: c.options.ContestInterval, MaxPause: longestPause}
	s.object = settings()
	s.object.UID, s.object.ResourceVersion = "2", "10"
	s.object.Labels = map[string]string{applyset.PartOfLabel: ownSet}
	yes := true
	s.object.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "shop", UID: "1", Controller: &yes, BlockOwnerDeletion: &yes}}
	s.manage("operator", appliedFields)
	return s
}

// manage adds an entry of managedFields; empty fields are shortened by the cache.
func (s *sight) manage(manager, fields string) {
	e := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1"}
	if manager != "operator" && manager != "before" {
		e.Operation = metav1.ManagedFieldsOperationUpdate
	}
	if fields != "" {
		e.FieldsV1 = metav1.NewFieldsV1(fields)
	}
	s.object.ManagedFields = append(s.object.ManagedFields, e)
}

// applied records that this process applied the intent, with the stored version.
func (s *sight) applied(version string, intent uint64) {
	answer := s.object.DeepCopy()
	answer.ResourceVersion = version
	entry := fieldset.Entry(answer.ManagedFields, "operator")
	s.memory.Learn(memory.Answer{
		Object: answer, Intent: intent, Member: true, Read: true, Final: true, Owned: memory.Remembered(entry, s.facts.owner.GetUID()),
	}, s.facts.now)
}

// drift changes the planned field as another manager.
func (s *sight) drift() {
	s.object.Data["color"], s.object.ManagedFields = "blue", nil
	s.manage("operator", markFields)
	s.manage("rival", `{"f:data":{"f:color":{}}}`)
}

// contested records that the planned field is left to the other manager.
func (s *sight) contested() {
	d := decider{observation: s.observation}
	d.live, d.recall = s.object, s.memory.Recall(s.object, s.look)
	d.leaveToOthers([]apply.ContestedField{{Path: ".data.color", Manager: "rival"}})
	s.memory.Remember(&d.remember, s.facts.now)
}

// refused records that the API server rejected the intent.
func (s *sight) refused(err error) {
	d := decider{observation: s.observation}
	d.live = s.object
	f := memory.Failure{Situation: memory.Situation{Intent: s.hash, UID: s.object.UID, Others: d.otherManagers()}, Outcome: apply.OutcomeFailed, Err: err}
	s.memory.Refused(f, s.facts.now, time.Minute)
}

// later advances the time of the observation.
func (s *sight) later(wait time.Duration) {
	s.facts.now = s.facts.now.Add(wait)
	s.look.Now = s.facts.now
}

// see returns the observation.
func (s *sight) see() *observation {
	if s.look.Live = s.fresh; s.object != nil {
		s.live = s.object
	}
	s.recall = s.memory.Recall(s.live, s.look)
	return &s.observation
}

// judgement is the part of a decision that the table compares.
type judgement struct {
	Decision decision
	Needs    need
	Requeue  time.Duration
	Remember memory.Changes
}

// observations has one row for each observation of a planned child.
func observations() map[string]struct { //nolint:funlen // a table
	opts  []apply.ChildOption
	given func(*sight)
	want  judgement
} {
	upToDate := decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged}
	more := decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged} // the decision needs more reads
	update := func(why apply.Reason) decision {
		return decision{apply.VerbUpdate, why, apply.OutcomeUnchanged}
	}
	contested := decision{apply.VerbNone, apply.ReasonContested, apply.OutcomeContested}
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "settings", nil)
	proof := &memory.Proof{Version: "10"}
	contest := &memory.Contest{Fields: []apply.ContestedField{{Path: ".data.color", Manager: "rival"}}}
	applied := func(s *sight) { s.applied("10", s.hash) }
	before := func(s *sight) { s.applied("9", s.hash) } // the object changed afterwards
	drifted := func(s *sight) { before(s); s.drift() }
	unreachable := func(s *sight) { // not reachable by garbage collection
		s.facts.owner.SetNamespace("elsewhere")
		s.reach, s.object.OwnerReferences = false, nil
	}
	repaired := memory.Changes{Shown: true, Repaired: []string{".data.color"}, RepairedObject: true}
	claimed := memory.Changes{UID: "2", Ours: true, Unproven: true}
	return map[string]struct {
		opts  []apply.ChildOption
		given func(*sight)
		want  judgement
	}{
		"the version of the last proof": {nil, applied, judgement{Decision: upToDate, Remember: memory.Changes{Shown: true}}},
		"another version, as planned": {nil, before, judgement{
			Decision: upToDate, Remember: memory.Changes{Shown: true, Proof: proof, Version: "10", Settled: true},
		}},
		"as planned, after a start": {nil, nil, judgement{Decision: upToDate, Remember: memory.Changes{
			UID: "2", Ours: true, Unproven: true, Proof: proof, Version: "10", Settled: true,
		}}},
		"the read failed": {nil, func(s *sight) { s.err = errReplaced }, judgement{
			Decision: decision{apply.VerbNone, apply.ReasonReadFailed, apply.OutcomeFailed},
		}},
		"changed plan": {nil, func(s *sight) { s.applied("9", 7); s.drift() }, judgement{
			Decision: update(apply.ReasonPlanChanged), Remember: memory.Changes{Shown: true},
		}},
		"drifted":                {nil, drifted, judgement{Decision: update(apply.ReasonDrift), Remember: repaired}},
		"drifted, after a start": {nil, (*sight).drift, judgement{Decision: update(apply.ReasonDiffers), Remember: claimed}},

		"missing": {nil, func(s *sight) { s.object = nil }, judgement{
			Decision: decision{apply.VerbCreate, apply.ReasonMissing, apply.OutcomeUnchanged}, Remember: memory.Changes{Gone: true, MaxPause: longestPause},
		}},
		"missing in the cache, for a dry run": {nil, func(s *sight) { s.object, s.facts.dry = nil, true }, judgement{
			Decision: decision{apply.VerbNone, apply.ReasonMissing, apply.OutcomeUnchanged}, Needs: needLiveObject,
			Remember: memory.Changes{Gone: true, MaxPause: longestPause},
		}},
		"missing in the API server, for a dry run": {nil, func(s *sight) { s.object, s.facts.dry, s.fresh = nil, true, true }, judgement{
			Decision: decision{apply.VerbCreate, apply.ReasonMissing, apply.OutcomeUnchanged},
			Remember: memory.Changes{Shown: true, Gone: true, MaxPause: longestPause},
		}},
		"deleted by others each time": {nil, func(s *sight) {
			for range memory.MaxRepairs {
				s.memory.Remember(&memory.Changes{UID: "2"}, s.facts.now)
				s.memory.Made(s.facts.now)
				s.memory.Remember(&memory.Changes{Gone: true, MaxPause: longestPause}, s.facts.now)
			}
			s.memory.Made(s.facts.now)
			s.memory.Remember(&memory.Changes{UID: "2"}, s.facts.now)
			s.object = nil
		}, judgement{Decision: contested, Requeue: time.Second, Remember: memory.Changes{Gone: true, MaxPause: longestPause}}},

		"hidden by the cache": {nil, func(s *sight) { s.applied("11", s.hash); s.later(time.Second) }, judgement{
			Decision: decision{apply.VerbNone, apply.ReasonStaleCache, apply.OutcomeUnchanged}, Requeue: 9 * time.Second,
		}},
		"hidden by the cache, changed plan": {nil, func(s *sight) { s.applied("11", 7) }, judgement{Decision: more, Needs: needLiveObject}},
		"hidden by the cache beyond the deadline": {nil, func(s *sight) { s.applied("11", s.hash); s.later(time.Minute) }, judgement{
			Decision: more, Needs: needLiveObject,
		}},
		"hidden by the cache, seen in the API server": {nil, func(s *sight) { s.applied("10", s.hash); s.fresh = true }, judgement{
			Decision: upToDate, Remember: memory.Changes{Read: "10"},
		}},

		"without managedFields in the cache": {nil, func(s *sight) { before(s); s.object.ManagedFields = nil }, judgement{
			Decision: more, Needs: needLiveObject, Remember: memory.Changes{Shown: true},
		}},
		"without managedFields in the cache, seen in the API server": {nil, func(s *sight) {
			before(s)
			s.fresh, s.stripped = true, strippedObject{version: "10", shape: 3}
		}, judgement{Decision: upToDate, Remember: memory.Changes{
			Shown: true, Read: "10", Proof: proof, Version: "10", Settled: true, Shape: 3,
		}}},
		"without managedFields in the cache, another version in the API server": {nil, func(s *sight) {
			before(s)
			s.fresh, s.stripped = true, strippedObject{version: "9", shape: 3}
		}, judgement{Decision: upToDate, Remember: memory.Changes{Read: "10", Proof: proof, Version: "10", Settled: true}}},
		"without managedFields in the cache, the same visible values": {nil, func(s *sight) {
			before(s)
			s.object.ManagedFields = nil
			d := decide(s.see())
			s.memory.Remember(&memory.Changes{Shape: d.shape}, s.facts.now)
		}, judgement{Decision: upToDate, Remember: memory.Changes{Shown: true, Version: "10"}}},

		"terminating": {nil, func(s *sight) {
			before(s)
			s.object.DeletionTimestamp, s.object.Finalizers = &metav1.Time{Time: s.facts.now}, []string{"example.com/rival"}
		}, judgement{
			Decision: decision{apply.VerbNone, apply.ReasonTerminating, apply.OutcomeBlocked}, Requeue: confirmAfter,
			Remember: memory.Changes{Shown: true, Unproven: true},
		}},
		"deleted by the engine, still in the cache": {nil, func(s *sight) { s.memory.NoteDeleted("2", s.facts.now) }, judgement{
			Decision: decision{apply.VerbNone, apply.ReasonTerminating, apply.OutcomeBlocked}, Requeue: confirmAfter,
			Remember: memory.Changes{Unproven: true},
		}},
		"opted out": {nil, func(s *sight) { drifted(s); s.object.Annotations = map[string]string{"example.com/managed": "false"} }, judgement{
			Decision: decision{apply.VerbNone, apply.ReasonOptedOut, apply.OutcomeOptedOut}, Remember: memory.Changes{Shown: true, Unproven: true},
		}},
		"owned by another controller": {nil, func(s *sight) { s.object.OwnerReferences[0].UID = "3" }, judgement{
			Decision: decision{apply.VerbNone, apply.ReasonNotOwned, apply.OutcomeFailed}, Remember: memory.Changes{Unproven: true},
		}},
		"in the set, but the label is not ours": {nil, func(s *sight) {
			unreachable(s)
			s.object.ManagedFields = nil
			s.manage("rival", appliedFields)
		}, judgement{Decision: decision{apply.VerbNone, apply.ReasonNotOwned, apply.OutcomeFailed}, Remember: memory.Changes{Unproven: true}}},
		"the cache hides whose label it is": {nil, func(s *sight) {
			unreachable(s)
			s.object.ManagedFields = nil
			s.manage("operator", "")
		}, judgement{Decision: more, Needs: needLiveMetadata, Remember: memory.Changes{Unproven: true}}},
		"first write out of reach": {nil, func(s *sight) { unreachable(s); s.drift() }, judgement{
			Decision: update(apply.ReasonDiffers), Needs: needLiveMetadata, Remember: claimed,
		}},
		"first write out of reach, confirmed": {nil, func(s *sight) {
			unreachable(s)
			s.drift()
			s.confirmed, s.metadata = true, &metav1.PartialObjectMetadata{ObjectMeta: s.object.ObjectMeta}
		}, judgement{Decision: update(apply.ReasonDiffers), Remember: claimed}},
		"first write out of reach, another object in the API server": {nil, func(s *sight) {
			unreachable(s)
			s.drift()
			s.confirmed, s.metadata = true, &metav1.PartialObjectMetadata{ObjectMeta: s.object.ObjectMeta}
			s.metadata.UID = "4"
		}, judgement{Decision: decision{apply.VerbNone, apply.ReasonNoMatch, apply.OutcomeFailed}, Remember: memory.Changes{Unproven: true}}},
		"first write out of reach, owned by another controller in the API server": {nil, func(s *sight) {
			unreachable(s)
			s.drift()
			s.confirmed, s.metadata = true, &metav1.PartialObjectMetadata{ObjectMeta: controlledByAnother().ObjectMeta}
		}, judgement{Decision: decision{apply.VerbNone, apply.ReasonNotOwned, apply.OutcomeFailed}, Remember: memory.Changes{Unproven: true}}},

		"refused before": {nil, func(s *sight) { drifted(s); s.refused(invalid) }, judgement{
			Decision: decision{apply.VerbNone, apply.ReasonBackoff, apply.OutcomeFailed}, Requeue: time.Second, Remember: memory.Changes{Shown: true},
		}},
		"refused before, another manager has written since": {nil, func(s *sight) {
			drifted(s)
			s.refused(invalid)
			s.manage("third", `{"f:data":{"f:size":{}}}`)
		}, judgement{Decision: update(apply.ReasonDrift), Remember: repaired}},

		"contested and held": {nil, func(s *sight) { s.drift(); applied(s); s.contested() }, judgement{
			Decision: contested, Requeue: time.Second, Remember: memory.Changes{Shown: true},
		}},
		"contested and held, another version": {nil, func(s *sight) { drifted(s); s.contested() }, judgement{
			Decision: contested, Requeue: time.Second, Remember: memory.Changes{Shown: true, Proof: proof, Version: "10"},
		}},
		"contested and held, hidden by the cache": {nil, func(s *sight) { s.drift(); s.applied("11", s.hash); s.contested() }, judgement{
			Decision: contested, Requeue: time.Second,
		}},
		"contested and released": {nil, func(s *sight) { drifted(s); s.contested(); s.later(time.Second) }, judgement{
			Decision: update(apply.ReasonDrift), Remember: repaired,
		}},
		"contested, the other manager has written since": {nil, func(s *sight) {
			drifted(s)
			s.contested()
			s.object.ManagedFields[1].Time = &metav1.Time{Time: s.facts.now}
		}, judgement{Decision: update(apply.ReasonDrift), Remember: repaired}},
		"contested, the other manager has given in": {nil, func(s *sight) {
			drifted(s)
			s.contested()
			s.object.Data["color"], s.object.ManagedFields = "green", nil
			s.manage("operator", appliedFields)
		}, judgement{Decision: upToDate, Remember: memory.Changes{Shown: true, Proof: proof, Version: "10", Settled: true}}},
		"changed back after each of many repairs": {nil, func(s *sight) {
			drifted(s)
			for range memory.MaxRepairs {
				s.memory.Remember(&memory.Changes{Repaired: []string{".data.color"}}, s.facts.now)
			}
		}, judgement{Decision: contested, Requeue: 5 * time.Minute, Remember: memory.Changes{
			Shown: true, Repaired: []string{".data.color"}, RepairedObject: true, Contest: contest, GivenUp: []string{".data.color"},
		}}},

		"written by a former manager": {nil, func(s *sight) {
			s.object.ManagedFields = nil
			s.manage("before", appliedFields)
		}, judgement{Decision: update(apply.ReasonFormerManager), Remember: claimed}},
		"migrated from a former manager, which keeps its finalizer": {nil, func(s *sight) {
			s.object.Finalizers = []string{"example.com/before"}
			s.manage("before", `{"f:metadata":{"f:finalizers":{"v:\"example.com/before\"":{}}}}`)
		}, judgement{Decision: upToDate, Remember: memory.Changes{
			UID: "2", Ours: true, Unproven: true, Proof: proof, Version: "10", Settled: true,
		}}},
		"our managedFields were removed": {nil, func(s *sight) { before(s); s.object.ManagedFields = nil; s.manage("rival", `{"f:data":{"f:size":{}}}`) }, judgement{
			Decision: update(apply.ReasonOwnershipLost), Remember: memory.Changes{Shown: true, RepairedObject: true},
		}},

		"overridden": {nil, func(s *sight) { s.overridden(); s.later(time.Minute) }, judgement{Decision: upToDate}},
		"overridden for a while": {nil, func(s *sight) { s.overridden(); s.later(5 * time.Minute) }, judgement{
			Decision: update(apply.ReasonDrift), Remember: memory.Changes{Unproven: true},
		}},

		"exists, with Once": {[]apply.ChildOption{apply.Once}, (*sight).drift, judgement{
			Decision: decision{apply.VerbNone, apply.ReasonExists, apply.OutcomeUnchanged},
			Remember: memory.Changes{UID: "2", Ours: true, Unproven: true, Proof: proof},
		}},
		"lost its label, with Once": {[]apply.ChildOption{apply.Once}, func(s *sight) { before(s); s.object.Labels = nil }, judgement{
			Decision: update(apply.ReasonDrift), Remember: memory.Changes{Shown: true, RepairedObject: true},
		}},
	}
}

// overridden records that an admission policy changed the planned field.
func (s *sight) overridden() {
	s.object.Data["color"] = "blue"
	s.memory.Learn(memory.Answer{
		Object: s.object, Intent: s.hash, Member: true, Read: true, Final: true, Unchanged: true, Overridden: true,
		OverriddenFields: []apply.FieldChange{{Path: ".data.color", From: `"blue"`, To: `"green"`}},
	}, s.facts.now)
}

// TestDecideObservation checks decisions for literal observations, without client, cache and clock.
func TestDecideObservation(t *testing.T) {
	t.Parallel()
	brief := cmp.Options{ // Proof and Contest have unexported parts
		cmp.Transformer("Proof", func(p memory.Proof) string { return p.Version }),
		cmp.Transformer("Contest", func(c memory.Contest) []apply.ContestedField { return c.Fields }),
	}
	for name, tc := range observations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSight(tc.opts...)
			if tc.given != nil {
				tc.given(s)
			}
			o := s.see()
			before := s.object.DeepCopy()
			for range 2 { // the same observation, the same decision
				d := decide(o)
				got := judgement{decision{d.result.Verb, d.result.Reason, d.result.Outcome}, d.needs, d.requeue, d.remember}
				if diff := cmp.Diff(tc.want, got, brief); diff != "" {
					t.Errorf("(-want +got):\n%s\n%v", diff, d.result.Err)
				}
			}
			if diff := cmp.Diff(before, s.object); diff != "" {
				t.Errorf("the decision has changed the object (-before +after):\n%s", diff)
			}
		})
	}
}

// TestObservationReachesNoClient checks that the types of an observation contain no client and no memory, so that a decision cannot send a request.
func TestObservationReachesNoClient(t *testing.T) {
	t.Parallel()
	forbidden := map[reflect.Type]bool{
		reflect.TypeFor[client.Client](): true, reflect.TypeFor[client.Reader](): true, reflect.TypeFor[context.Context](): true,
		reflect.TypeFor[memory.Child](): true, reflect.TypeFor[memory.Owner](): true, reflect.TypeFor[env](): true, reflect.TypeFor[pass](): true,
	}
	seen := map[reflect.Type]bool{}
	var walk func(at string, of reflect.Type) error
	walk = func(at string, of reflect.Type) error {
		if forbidden[of] {
			return errors.New(at + " is a " + of.String())
		}
		if seen[of] {
			return nil
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
			return walk(at, of.Elem())
		case reflect.Struct:
			for field := range of.Fields() {
				if err := walk(at+"."+field.Name, field.Type); err != nil {
					return err
				}
			}
		default:
		}
		return nil
	}
	if err := walk("observation", reflect.TypeFor[observation]()); err != nil {
		t.Error(err)
	}
}
