package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// decision is the part of a result that the tables compare.
type decision struct {
	Verb    apply.Verb
	Reason  apply.Reason
	Outcome apply.Outcome
}

// situation is a plan, what happened before it, and the decision.
type situation struct {
	plan  apply.Plan
	given func(*stage)
	want  decision
}

// childSituations has one row for each situation of a planned child.
func childSituations() map[string]situation {
	plan := func() apply.Plan { return planOf(settings()) }
	configuration := func() apply.Plan {
		var plan apply.Plan
		plan.ApplyConfiguration(applycorev1.ConfigMap("settings", "default").WithData(map[string]string{"color": "green"}))
		return plan
	}
	red := func() apply.Plan {
		o := settings()
		o.Data["color"] = "red"
		return planOf(o)
	}
	repaint := func(o *corev1.ConfigMap) { o.Data["color"] = "blue" }
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "settings", nil)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "settings", nil)

	second := func() *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "second", Namespace: "default"}}
	}
	// after plans the child after a second one, and what else the plan has.
	after := func(rest ...func(*apply.Plan)) apply.Plan {
		plan := planOf(settings(), apply.After(second()))
		for _, add := range rest {
			add(&plan)
		}
		return plan
	}
	applied := func(opts ...apply.ChildOption) func(*apply.Plan) {
		return func(plan *apply.Plan) { plan.Apply(second(), opts...) }
	}
	deleted := func(opts ...apply.DeletionOption) func(*apply.Plan) {
		return func(plan *apply.Plan) { plan.Delete(second(), opts...) }
	}

	return map[string]situation{
		"after a child that is applied too": {
			after(applied()), nil, decision{apply.VerbCreate, apply.ReasonMissing, apply.OutcomeUnchanged},
		},
		"after a child that exists as planned": {
			after(applied()), func(s *stage) { s.apply(planOf(second())) },
			decision{apply.VerbCreate, apply.ReasonMissing, apply.OutcomeUnchanged},
		},
		"after a child that waits": {
			after(applied(apply.WaitUntil(false, "the database"))), nil,
			decision{apply.VerbNone, apply.ReasonWaiting, apply.OutcomeWaiting},
		},
		"after a child that is owned by no controller": {
			after(applied()), func(s *stage) { s.create(second()) },
			decision{apply.VerbNone, apply.ReasonWaiting, apply.OutcomeWaiting},
		},
		"after a child that is terminating": {
			after(applied()), func(s *stage) {
				o := second()
				o.Finalizers = []string{"example.com/rival"}
				s.apply(planOf(o))
				s.check(s.server.Delete(s.t.Context(), o))
			},
			decision{apply.VerbNone, apply.ReasonWaiting, apply.OutcomeWaiting},
		},
		"exists as planned, after a child that waits": {
			after(applied(apply.WaitUntil(false, "the database"))), func(s *stage) { s.apply(after(applied())) },
			decision{apply.VerbNone, apply.ReasonWaiting, apply.OutcomeWaiting},
		},
		"exists as planned, after a child that exists as planned": {
			after(applied()), func(s *stage) { s.apply(after(applied())) },
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"exists, planned after a child from now on": {
			after(applied()), func(s *stage) { s.apply(plan()) },
			decision{apply.VerbUpdate, apply.ReasonPlanChanged, apply.OutcomeUnchanged},
		},
		"after an object that the plan deletes": {
			after(deleted()), func(s *stage) { s.apply(planOf(second())) },
			decision{apply.VerbNone, apply.ReasonWaiting, apply.OutcomeWaiting},
		},
		"after an object that the plan deletes and that is gone": {
			after(deleted()), nil, decision{apply.VerbCreate, apply.ReasonMissing, apply.OutcomeUnchanged},
		},
		"after a deletion that waits": {
			after(deleted(apply.WaitUntil(false, "the database"))), func(s *stage) { s.apply(planOf(second())) },
			decision{apply.VerbNone, apply.ReasonWaiting, apply.OutcomeWaiting},
		},
		"after an object that is not in the plan": {
			after(), nil, decision{apply.VerbNone, apply.ReasonInvalid, apply.OutcomeFailed},
		},
		"after a child that comes after it": {
			after(applied(apply.After(settings()))), nil, decision{apply.VerbNone, apply.ReasonInvalid, apply.OutcomeFailed},
		},
		"after itself": {
			planOf(settings(), apply.After(settings())), nil, decision{apply.VerbNone, apply.ReasonInvalid, apply.OutcomeFailed},
		},
		"after two children that come after each other": {
			after(applied(apply.After(third())), func(plan *apply.Plan) { plan.Apply(third(), apply.After(second())) }), nil,
			decision{apply.VerbNone, apply.ReasonWaiting, apply.OutcomeWaiting},
		},
		"absent": {plan(), nil, decision{apply.VerbCreate, apply.ReasonMissing, apply.OutcomeUnchanged}},
		"exists as planned": {
			plan(), func(s *stage) { s.apply(plan()) },
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"exists as planned, after a restart": {
			plan(), func(s *stage) { s.apply(plan()); s.start("operator") },
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"absent, planned as an apply configuration": {
			configuration(), nil,
			decision{apply.VerbCreate, apply.ReasonMissing, apply.OutcomeUnchanged},
		},
		"exists as planned, planned as an apply configuration": {
			configuration(), func(s *stage) { s.apply(configuration()) },
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"exists as planned, with fields of other managers": {
			plan(), func(s *stage) {
				s.apply(plan())
				s.update(func(o *corev1.ConfigMap) { o.Data["size"] = "large" })
			},
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"exists, the plan changed": {
			red(), func(s *stage) { s.apply(plan()) },
			decision{apply.VerbUpdate, apply.ReasonPlanChanged, apply.OutcomeUnchanged},
		},
		"drifted": {
			plan(), func(s *stage) { s.apply(plan()); s.update(repaint) },
			decision{apply.VerbUpdate, apply.ReasonDrift, apply.OutcomeUnchanged},
		},
		"drifted while no process ran": {
			plan(), func(s *stage) { s.apply(plan()); s.update(repaint); s.start("operator") },
			decision{apply.VerbUpdate, apply.ReasonDiffers, apply.OutcomeUnchanged},
		},
		"drifted in a create-only field": {
			planOf(settings(), apply.CreateOnly("data")), func(s *stage) {
				s.apply(planOf(settings(), apply.CreateOnly("data")))
				s.update(repaint)
			},
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"our managedFields were removed": {
			plan(), func(s *stage) {
				s.apply(plan())
				s.update(func(o *corev1.ConfigMap) { o.ManagedFields = []metav1.ManagedFieldsEntry{{}} })
			},
			decision{apply.VerbUpdate, apply.ReasonOwnershipLost, apply.OutcomeUnchanged},
		},
		"owned by another controller": {
			plan(), func(s *stage) { s.create(controlledByAnother()) },
			decision{apply.VerbNone, apply.ReasonNotOwned, apply.OutcomeFailed},
		},
		"owned by no controller": {
			plan(), func(s *stage) { s.create(settings()) },
			decision{apply.VerbNone, apply.ReasonNotOwned, apply.OutcomeFailed},
		},
		"owned by no controller, with AdoptUncontrolled": {
			planOf(settings(), apply.AdoptUncontrolled), func(s *stage) { s.create(settings()) },
			decision{apply.VerbUpdate, apply.ReasonDiffers, apply.OutcomeUnchanged},
		},
		"owned by another controller, with our part-of label": {
			plan(), func(s *stage) {
				o := settings()
				o.Labels = map[string]string{applyset.PartOfLabel: applyset.ID(schema.GroupKind{Kind: "ConfigMap"}, s.key())}
				s.create(o)
			},
			decision{apply.VerbNone, apply.ReasonNotOwned, apply.OutcomeFailed},
		},
		"written by a former manager": {
			plan(), func(s *stage) {
				s.start("before")
				s.apply(plan())
				s.start("operator", "before")
			},
			decision{apply.VerbUpdate, apply.ReasonFormerManager, apply.OutcomeUnchanged},
		},
		"migrated from a former manager": {
			plan(), func(s *stage) {
				s.start("before")
				s.apply(plan())
				s.start("operator", "before")
				s.apply(plan())
			},
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"terminating": {
			plan(), func(s *stage) {
				s.apply(plan())
				s.update(func(o *corev1.ConfigMap) { o.Finalizers = []string{"example.com/rival"} })
				s.check(s.server.Delete(s.t.Context(), s.child()))
			},
			decision{apply.VerbNone, apply.ReasonTerminating, apply.OutcomeBlocked},
		},
		"opted out": {
			red(), func(s *stage) {
				s.apply(plan())
				s.update(func(o *corev1.ConfigMap) { o.Annotations = map[string]string{"example.com/managed": "false"} })
			},
			decision{apply.VerbNone, apply.ReasonOptedOut, apply.OutcomeOptedOut},
		},
		"stale cache, unchanged plan": {
			plan(), func(s *stage) { s.apply(red()); s.cached = s.child(); s.apply(plan()) },
			decision{apply.VerbNone, apply.ReasonStaleCache, apply.OutcomeUnchanged},
		},
		"stale cache, changed plan": {
			red(), func(s *stage) { s.apply(red()); s.cached = s.child(); s.apply(plan()) },
			decision{apply.VerbUpdate, apply.ReasonPlanChanged, apply.OutcomeUnchanged},
		},
		"cache stale beyond the deadline, and drifted": {
			plan(), func(s *stage) {
				s.apply(red())
				s.cached = s.child()
				s.apply(plan())
				s.update(repaint)
				s.clock.SetTime(s.clock.Now().Add(time.Hour))
			},
			decision{apply.VerbUpdate, apply.ReasonDrift, apply.OutcomeUnchanged},
		},
		"changed back after each of many repairs": {
			plan(), func(s *stage) { s.contest(plan(), repaint) },
			decision{apply.VerbNone, apply.ReasonContested, apply.OutcomeContested},
		},
		"contested, and held by the other manager": {
			plan(), func(s *stage) { s.contest(plan(), repaint); s.apply(plan()) },
			decision{apply.VerbNone, apply.ReasonContested, apply.OutcomeContested},
		},
		"contested an hour ago": {
			plan(), func(s *stage) { s.contest(plan(), repaint); s.clock.SetTime(s.clock.Now().Add(time.Hour)) },
			decision{apply.VerbUpdate, apply.ReasonDrift, apply.OutcomeUnchanged},
		},
		"contested, changed plan": {
			red(), func(s *stage) { s.contest(plan(), repaint) },
			decision{apply.VerbUpdate, apply.ReasonPlanChanged, apply.OutcomeUnchanged},
		},
		"overridden by a policy each time": {
			plan(), func(s *stage) { s.overridden(plan(), repaint) },
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"overridden by a policy each time, an hour ago": {
			plan(), func(s *stage) { s.overridden(plan(), repaint); s.clock.SetTime(s.clock.Now().Add(time.Hour)) },
			decision{apply.VerbUpdate, apply.ReasonDrift, apply.OutcomeUnchanged},
		},
		"exists as planned, in a cache without managedFields": {
			plan(), func(s *stage) { s.apply(plan()); s.strip(); s.start("operator") },
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"drifted, in a cache without managedFields": {
			plan(), func(s *stage) { s.apply(plan()); s.update(repaint); s.strip() },
			decision{apply.VerbUpdate, apply.ReasonDrift, apply.OutcomeUnchanged},
		},
		"refused before as invalid": {
			plan(), func(s *stage) { s.apply(red()); s.refusal = invalid; s.apply(plan()) },
			decision{apply.VerbNone, apply.ReasonBackoff, apply.OutcomeFailed},
		},
		"refused before as invalid, changed plan": {
			planOf(settings(), apply.Force("data")), func(s *stage) { s.apply(red()); s.refusal = invalid; s.apply(plan()) },
			decision{apply.VerbUpdate, apply.ReasonPlanChanged, apply.OutcomeUnchanged},
		},
		"refused before as forbidden": {
			plan(), func(s *stage) { s.apply(red()); s.refusal = forbidden; s.apply(plan()) },
			decision{apply.VerbUpdate, apply.ReasonPlanChanged, apply.OutcomeUnchanged},
		},
		"refused as invalid an hour ago": {
			plan(), func(s *stage) {
				s.apply(red())
				s.refusal = invalid
				s.apply(plan())
				s.clock.SetTime(s.clock.Now().Add(time.Hour))
			},
			decision{apply.VerbUpdate, apply.ReasonPlanChanged, apply.OutcomeUnchanged},
		},
		"absent, with Once": {
			planOf(settings(), apply.Once), nil,
			decision{apply.VerbCreate, apply.ReasonMissing, apply.OutcomeUnchanged},
		},
		"drifted, with Once": {
			planOf(settings(), apply.Once), func(s *stage) { s.apply(planOf(settings(), apply.Once)); s.update(repaint) },
			decision{apply.VerbNone, apply.ReasonExists, apply.OutcomeUnchanged},
		},
		"absent, with History": {
			planOf(settings(), apply.History()), nil,
			decision{apply.VerbCreate, apply.ReasonMissing, apply.OutcomeUnchanged},
		},
		"drifted, with History": {
			planOf(settings(), apply.History()), func(s *stage) { s.apply(planOf(settings(), apply.History())); s.update(repaint) },
			decision{apply.VerbNone, apply.ReasonExists, apply.OutcomeUnchanged},
		},
		"exists, planned with History from now on": {
			planOf(settings(), apply.History()), func(s *stage) { s.apply(plan()) },
			decision{apply.VerbUpdate, apply.ReasonDrift, apply.OutcomeUnchanged},
		},
		"owned by another controller, with History": {
			planOf(settings(), apply.History()), func(s *stage) { s.create(controlledByAnother()) },
			decision{apply.VerbNone, apply.ReasonNotOwned, apply.OutcomeFailed},
		},
		"in another namespace, with History": {
			planOf(func() *corev1.ConfigMap { o := settings(); o.Namespace = "other"; return o }(), apply.History()), nil,
			decision{apply.VerbNone, apply.ReasonInvalid, apply.OutcomeFailed},
		},
		"with History and another mode": {
			planOf(settings(), apply.History(), apply.Shared), nil, decision{apply.VerbNone, apply.ReasonInvalid, apply.OutcomeFailed},
		},
		"contribution to an absent object": {
			planOf(settings(), apply.Contribute), nil,
			decision{apply.VerbNone, apply.ReasonMissing, apply.OutcomeBlocked},
		},
		"contribution to an existing object": {
			planOf(settings(), apply.Contribute), func(s *stage) {
				o := settings()
				o.Data = map[string]string{"size": "large"}
				s.create(o)
			},
			decision{apply.VerbUpdate, apply.ReasonDiffers, apply.OutcomeUnchanged},
		},
		"the API server does not serve the kind": {
			planOf(&unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "settings", "namespace": "default"},
			}}), nil,
			decision{apply.VerbNone, apply.ReasonInvalid, apply.OutcomeFailed},
		},
		"without a name": {
			planOf(&corev1.ConfigMap{}), nil,
			decision{apply.VerbNone, apply.ReasonInvalid, apply.OutcomeFailed},
		},
		"waits for a condition": {
			planOf(settings(), apply.WaitUntil(false, "the database")), nil,
			decision{apply.VerbNone, apply.ReasonWaiting, apply.OutcomeWaiting},
		},
	}
}

// third is another ConfigMap.
func third() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "third", Namespace: "default"}}
}

// TestDecide checks the verb, the reason and the outcome of a planned child in each situation, before anything is sent.
func TestDecide(t *testing.T) {
	t.Parallel()
	for name, tc := range childSituations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			if tc.given != nil {
				tc.given(s)
			}
			p := s.begin(tc.plan)
			decideAll(p, &pruning{pass: p})
			r := p.children[0].result
			if diff := cmp.Diff(tc.want, decision{r.Verb, r.Reason, r.Outcome}); diff != "" {
				t.Errorf("decision about a child %s (-want +got):\n%s\n%v", name, diff, r.Err)
			}
		})
	}
}
