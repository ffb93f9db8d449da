package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// TestDecideDeletions has one row for each situation of an object that the plan wants deleted.
func TestDecideDeletions(t *testing.T) {
	t.Parallel()
	type decision struct {
		Verb   apply.Verb
		Reason apply.Reason
		Failed bool
	}
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

	for name, tc := range map[string]struct {
		plan  apply.Plan
		given func(*stage)
		want  decision
	}{
		"absent":                           {deletion(), nil, decision{apply.VerbNone, apply.ReasonMissing, false}},
		"ours":                             {deletion(), ours, decision{apply.VerbDelete, apply.ReasonPlanned, false}},
		"ours, after a restart":            {deletion(), func(s *stage) { ours(s); s.start("operator") }, decision{apply.VerbDelete, apply.ReasonPlanned, false}},
		"ours, and planned as a child":     {twice(), ours, decision{apply.VerbNone, apply.ReasonInvalid, true}},
		"of no controller":                 {deletion(), func(s *stage) { s.create(settings()) }, decision{apply.VerbNone, apply.ReasonNotOwned, true}},
		"of no controller, which is meant": {deletion(apply.Uncontrolled()), func(s *stage) { s.create(settings()) }, decision{apply.VerbDelete, apply.ReasonPlanned, false}},
		"of another controller":            {deletion(), controlled, decision{apply.VerbNone, apply.ReasonNotOwned, true}},
		"of another controller, and an uncontrolled one is meant": {
			deletion(apply.Uncontrolled()), controlled, decision{apply.VerbNone, apply.ReasonNotOwned, true},
		},
		"without the labels that are meant": {
			deletion(apply.MatchLabels{"color": "green"}), ours, decision{apply.VerbNone, apply.ReasonNoMatch, false},
		},
		"of another UID than is meant": {another(), ours, decision{apply.VerbNone, apply.ReasonNoMatch, false}},
		"opted out": {
			deletion(), func(s *stage) {
				ours(s)
				s.update(func(o *corev1.ConfigMap) { o.Annotations = map[string]string{"example.com/managed": "false"} })
			},
			decision{apply.VerbNone, apply.ReasonOptedOut, false},
		},
		"terminating": {
			deletion(), func(s *stage) {
				ours(s)
				s.update(func(o *corev1.ConfigMap) { o.Finalizers = []string{"example.com/rival"} })
				s.check(s.server.Delete(s.t.Context(), s.child()))
			},
			decision{apply.VerbNone, apply.ReasonTerminating, false},
		},
		"deleted a moment ago, and still in the cache": {
			deletion(), func(s *stage) { ours(s); s.cached = s.child(); s.apply(deletion()) },
			decision{apply.VerbNone, apply.ReasonTerminating, false},
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
			r := p.deletions[0].result
			if diff := cmp.Diff(tc.want, decision{r.Verb, r.Reason, r.Err != nil}); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, r.Err)
			}
		})
	}
}
