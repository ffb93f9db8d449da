package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// deletionSituations has one row for each situation of an object that the plan deletes.
func deletionSituations() map[string]situation {
	deletion := func(opts ...apply.DeletionOption) apply.Plan {
		var plan apply.Plan
		plan.Delete(settings(), opts...)
		return plan
	}
	another := func() apply.Plan {
		var plan apply.Plan
		o := settings()
		o.UID = "another"
		plan.Delete(o)
		return plan
	}
	twice := func() apply.Plan {
		plan := deletion()
		plan.Apply(settings())
		return plan
	}
	ours := func(s *stage) { s.apply(planOf(settings())) }
	controlled := func(s *stage) { s.create(controlledByAnother()) }

	// after plans the deletion after a child.
	after := func(child *corev1.ConfigMap) apply.Plan {
		plan := planOf(child)
		plan.Delete(settings(), apply.After(child))
		return plan
	}

	return map[string]situation{
		"after a child that is applied too": {
			after(third()), ours, decision{apply.VerbDelete, apply.ReasonPlanned, apply.OutcomeUnchanged},
		},
		"after a child that is owned by no controller": {
			after(third()), func(s *stage) { ours(s); s.create(third()) }, decision{apply.VerbNone, apply.ReasonWaiting, apply.OutcomeWaiting},
		},
		"absent, after a child that is owned by no controller": {
			after(third()), func(s *stage) { s.create(third()) }, decision{apply.VerbNone, apply.ReasonMissing, apply.OutcomeUnchanged},
		},
		"after an object that is not in the plan": {
			deletion(apply.After(third())), ours, decision{apply.VerbNone, apply.ReasonInvalid, apply.OutcomeFailed},
		},
		"after a deletion that comes after it": {
			func() apply.Plan {
				plan := deletion(apply.After(third()))
				plan.Delete(third(), apply.After(settings()))
				return plan
			}(), ours, decision{apply.VerbNone, apply.ReasonInvalid, apply.OutcomeFailed},
		},
		"absent":                  {deletion(), nil, decision{apply.VerbNone, apply.ReasonMissing, apply.OutcomeUnchanged}},
		"exists":                  {deletion(), ours, decision{apply.VerbDelete, apply.ReasonPlanned, apply.OutcomeUnchanged}},
		"exists, after a restart": {deletion(), func(s *stage) { ours(s); s.start("operator") }, decision{apply.VerbDelete, apply.ReasonPlanned, apply.OutcomeUnchanged}},
		"also planned as a child": {twice(), ours, decision{apply.VerbNone, apply.ReasonInvalid, apply.OutcomeFailed}},
		"owned by no controller":  {deletion(), func(s *stage) { s.create(settings()) }, decision{apply.VerbNone, apply.ReasonNotOwned, apply.OutcomeFailed}},
		"owned by no controller, with Uncontrolled": {deletion(apply.Uncontrolled()), func(s *stage) { s.create(settings()) }, decision{apply.VerbDelete, apply.ReasonPlanned, apply.OutcomeUnchanged}},
		"owned by another controller":               {deletion(), controlled, decision{apply.VerbNone, apply.ReasonNotOwned, apply.OutcomeFailed}},
		"owned by another controller, with Uncontrolled": {
			deletion(apply.Uncontrolled()), controlled, decision{apply.VerbNone, apply.ReasonNotOwned, apply.OutcomeFailed},
		},
		"owned by another controller, with ControlledByAnother": {
			deletion(apply.ControlledByAnother("2")), controlled, decision{apply.VerbDelete, apply.ReasonPlanned, apply.OutcomeUnchanged},
		},
		"owned by another controller, with ControlledByAnother of another UID": {
			deletion(apply.ControlledByAnother("1")), controlled, decision{apply.VerbNone, apply.ReasonNoMatch, apply.OutcomeUnchanged},
		},
		"owned by another controller, with ControlledByAnother of no UID": {
			deletion(apply.ControlledByAnother("")), controlled, decision{apply.VerbNone, apply.ReasonInvalid, apply.OutcomeFailed},
		},
		"owned by another controller, with ControlledByAnother, of an object with another UID": {
			func() apply.Plan {
				var plan apply.Plan
				o := settings()
				o.UID = "another"
				plan.Delete(o, apply.ControlledByAnother("2"))
				return plan
			}(), controlled, decision{apply.VerbNone, apply.ReasonNoMatch, apply.OutcomeUnchanged},
		},
		"owned by another controller, with ControlledByAnother, without the labels of MatchLabels": {
			deletion(apply.ControlledByAnother("2"), apply.MatchLabels{"color": "green"}), controlled,
			decision{apply.VerbNone, apply.ReasonNoMatch, apply.OutcomeUnchanged},
		},
		"without the labels of MatchLabels": {
			deletion(apply.MatchLabels{"color": "green"}), ours, decision{apply.VerbNone, apply.ReasonNoMatch, apply.OutcomeUnchanged},
		},
		"has another UID than the object that was read": {another(), ours, decision{apply.VerbNone, apply.ReasonNoMatch, apply.OutcomeUnchanged}},
		"opted out": {
			deletion(), func(s *stage) {
				ours(s)
				s.update(func(o *corev1.ConfigMap) { o.Annotations = map[string]string{"example.com/managed": "false"} })
			},
			decision{apply.VerbNone, apply.ReasonOptedOut, apply.OutcomeOptedOut},
		},
		"terminating": {
			deletion(), func(s *stage) {
				ours(s)
				s.update(func(o *corev1.ConfigMap) { o.Finalizers = []string{"example.com/rival"} })
				s.check(s.server.Delete(s.t.Context(), s.child()))
			},
			decision{apply.VerbNone, apply.ReasonTerminating, apply.OutcomeUnchanged},
		},
		"deleted before, still in a stale cache": {
			deletion(), func(s *stage) { ours(s); s.cached = s.child(); s.apply(deletion()) },
			decision{apply.VerbNone, apply.ReasonTerminating, apply.OutcomeUnchanged},
		},
	}
}

// TestDecideDeletions checks the verb, the reason and the outcome of a planned deletion in each situation, before anything is sent.
func TestDecideDeletions(t *testing.T) {
	t.Parallel()
	for name, tc := range deletionSituations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			if tc.given != nil {
				tc.given(s)
			}
			p := s.begin(tc.plan)
			decideAll(p, &pruning{pass: p})
			r := resultAbout(p, "settings")
			if diff := cmp.Diff(tc.want, decision{r.Verb, r.Reason, r.Outcome}); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, r.Err)
			}
		})
	}
}

// resultAbout returns the result about an object. A deletion that waits is the result of a child.
func resultAbout(p *pass, name string) apply.ObjectResult {
	for _, d := range p.deletions {
		if d.id.Key.Name == name {
			return d.result
		}
	}
	for _, c := range p.children {
		if c.id.Key.Name == name {
			return c.result
		}
	}
	return apply.ObjectResult{}
}
