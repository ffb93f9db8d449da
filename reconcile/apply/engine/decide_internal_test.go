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
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// TestDecide has one row for each situation of a child: what is sent for it, and why.
func TestDecide(t *testing.T) {
	t.Parallel()
	type decision struct {
		Verb    apply.Verb
		Reason  apply.Reason
		Outcome apply.Outcome
	}
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

	for name, tc := range map[string]struct {
		plan  apply.Plan
		given func(*stage) // what has happened before
		want  decision
	}{
		"absent": {plan(), nil, decision{apply.VerbCreate, apply.ReasonMissing, apply.OutcomeUnchanged}},
		"ours, unchanged": {
			plan(), func(s *stage) { s.apply(plan()) },
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"ours, unchanged, after a restart": {
			plan(), func(s *stage) { s.apply(plan()); s.start("operator") },
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"of an apply configuration, absent": {
			configuration(), nil,
			decision{apply.VerbCreate, apply.ReasonMissing, apply.OutcomeUnchanged},
		},
		"of an apply configuration, unchanged": {
			configuration(), func(s *stage) { s.apply(configuration()) },
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"ours, with fields of others": {
			plan(), func(s *stage) {
				s.apply(plan())
				s.update(func(o *corev1.ConfigMap) { o.Data["size"] = "large" })
			},
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"ours, of another plan": {
			red(), func(s *stage) { s.apply(plan()) },
			decision{apply.VerbUpdate, apply.ReasonPlanChanged, apply.OutcomeUnchanged},
		},
		"drifted": {
			plan(), func(s *stage) { s.apply(plan()); s.update(repaint) },
			decision{apply.VerbUpdate, apply.ReasonDrift, apply.OutcomeUnchanged},
		},
		"drifted, after a restart": {
			plan(), func(s *stage) { s.apply(plan()); s.update(repaint); s.start("operator") },
			decision{apply.VerbUpdate, apply.ReasonDiffers, apply.OutcomeUnchanged},
		},
		"drifted in a field that is sent once": {
			planOf(settings(), apply.CreateOnly("data")), func(s *stage) {
				s.apply(planOf(settings(), apply.CreateOnly("data")))
				s.update(repaint)
			},
			decision{apply.VerbNone, apply.ReasonUpToDate, apply.OutcomeUnchanged},
		},
		"without the managedFields of ours": {
			plan(), func(s *stage) {
				s.apply(plan())
				s.update(func(o *corev1.ConfigMap) { o.ManagedFields = []metav1.ManagedFieldsEntry{{}} })
			},
			decision{apply.VerbUpdate, apply.ReasonOwnershipLost, apply.OutcomeUnchanged},
		},
		"of another controller": {
			plan(), func(s *stage) { s.create(controlledByAnother()) },
			decision{apply.VerbNone, apply.ReasonNotOwned, apply.OutcomeFailed},
		},
		"of no controller": {
			plan(), func(s *stage) { s.create(settings()) },
			decision{apply.VerbNone, apply.ReasonNotOwned, apply.OutcomeFailed},
		},
		"of no controller, to adopt": {
			planOf(settings(), apply.AdoptUncontrolled), func(s *stage) { s.create(settings()) },
			decision{apply.VerbUpdate, apply.ReasonDiffers, apply.OutcomeUnchanged},
		},
		"of another controller that copied our label": {
			plan(), func(s *stage) {
				o := settings()
				o.Labels = map[string]string{applyset.PartOfLabel: applyset.ID(schema.GroupKind{Kind: "ConfigMap"}, s.key())}
				s.create(o)
			},
			decision{apply.VerbNone, apply.ReasonNotOwned, apply.OutcomeFailed},
		},
		"of a former manager": {
			plan(), func(s *stage) {
				s.start("before")
				s.apply(plan())
				s.start("operator", "before")
			},
			decision{apply.VerbUpdate, apply.ReasonFormerManager, apply.OutcomeUnchanged},
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
		"behind a cache that lags": {
			plan(), func(s *stage) { s.apply(red()); s.cached = s.child(); s.apply(plan()) },
			decision{apply.VerbNone, apply.ReasonStaleCache, apply.OutcomeUnchanged},
		},
		"behind a cache that lags, with another plan": {
			red(), func(s *stage) { s.apply(red()); s.cached = s.child(); s.apply(plan()) },
			decision{apply.VerbUpdate, apply.ReasonPlanChanged, apply.OutcomeUnchanged},
		},
		"behind a cache that lags for too long": {
			plan(), func(s *stage) {
				s.apply(red())
				s.cached = s.child()
				s.apply(plan())
				s.update(repaint)
				s.clock.SetTime(s.clock.Now().Add(time.Hour))
			},
			decision{apply.VerbUpdate, apply.ReasonDrift, apply.OutcomeUnchanged},
		},
		"contested": {
			plan(), func(s *stage) {
				s.apply(plan())
				for range memory.MaxRepairs + 1 {
					s.update(repaint)
					s.apply(plan())
				}
			},
			decision{apply.VerbNone, apply.ReasonContested, apply.OutcomeContested},
		},
		"refused before": {
			plan(), func(s *stage) { s.apply(red()); s.refusal = invalid; s.apply(plan()) },
			decision{apply.VerbNone, apply.ReasonBackoff, apply.OutcomeFailed},
		},
		"refused before, with another plan": {
			planOf(settings(), apply.Force("data")), func(s *stage) { s.apply(red()); s.refusal = invalid; s.apply(plan()) },
			decision{apply.VerbUpdate, apply.ReasonPlanChanged, apply.OutcomeUnchanged},
		},
		"refused before for want of permission": {
			plan(), func(s *stage) { s.apply(red()); s.refusal = forbidden; s.apply(plan()) },
			decision{apply.VerbUpdate, apply.ReasonPlanChanged, apply.OutcomeUnchanged},
		},
		"refused long ago": {
			plan(), func(s *stage) {
				s.apply(red())
				s.refusal = invalid
				s.apply(plan())
				s.clock.SetTime(s.clock.Now().Add(time.Hour))
			},
			decision{apply.VerbUpdate, apply.ReasonPlanChanged, apply.OutcomeUnchanged},
		},
		"created once, absent": {
			planOf(settings(), apply.Once), nil,
			decision{apply.VerbCreate, apply.ReasonMissing, apply.OutcomeUnchanged},
		},
		"created once, drifted": {
			planOf(settings(), apply.Once), func(s *stage) { s.apply(planOf(settings(), apply.Once)); s.update(repaint) },
			decision{apply.VerbNone, apply.ReasonExists, apply.OutcomeUnchanged},
		},
		"contribution to an absent object": {
			planOf(settings(), apply.Contribute), nil,
			decision{apply.VerbNone, apply.ReasonMissing, apply.OutcomeBlocked},
		},
		"contribution to an object of others": {
			planOf(settings(), apply.Contribute), func(s *stage) {
				o := settings()
				o.Data = map[string]string{"size": "large"}
				s.create(o)
			},
			decision{apply.VerbUpdate, apply.ReasonDiffers, apply.OutcomeUnchanged},
		},
		"of an absent kind": {
			planOf(&unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "settings", "namespace": "default"},
			}}), nil,
			decision{apply.VerbNone, apply.ReasonInvalid, apply.OutcomeFailed},
		},
		"without a name": {
			planOf(&corev1.ConfigMap{}), nil,
			decision{apply.VerbNone, apply.ReasonInvalid, apply.OutcomeFailed},
		},
		"waiting": {
			planOf(settings(), apply.WaitUntil(false, "the database")), nil,
			decision{apply.VerbNone, apply.ReasonWaiting, apply.OutcomeWaiting},
		},
	} {
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
