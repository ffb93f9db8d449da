package engine

import (
	"encoding/json"
	"reflect"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// learnAnswer is the last stage of an apply. It compares the answer with the object before and updates the memory.
func learnAnswer(p *pass, c *child, answer client.Object) {
	made := c.live == nil && c.uid == ""
	switch {
	case made:
		c.result.Outcome = apply.OutcomeCreated
	case c.live == nil:
		c.result.Outcome = apply.OutcomeUpdated
	case c.live.GetResourceVersion() != answer.GetResourceVersion():
		c.result.Outcome, c.result.Fields = apply.OutcomeUpdated, c.changedFields()
	}
	learnFrom(p, c, answer, made)
	c.reportContest()
}

// statusBehind reports whether the status has an observedGeneration that is lower than the generation.
func statusBehind(content map[string]any, generation int64) bool {
	status, _ := content["status"].(map[string]any)
	switch observed := status["observedGeneration"].(type) {
	case int64:
		return observed < generation
	case float64:
		return int64(observed) < generation
	case json.Number:
		n, err := observed.Int64()
		return err == nil && n < generation
	}
	return false
}

// learnFrom remembers the answer to a write of the child; made reports that the write created it.
func learnFrom(p *pass, c *child, answer client.Object, made bool) {
	c.answer = answer
	after, err := fieldset.Observe(p.env.encoder, answer, c.manager)
	c.result.Unobserved = c.result.Wrote() && c.planned.Mode == apply.Own && statusBehind(after.Content, answer.GetGeneration())
	learned := memory.Answer{
		Object: answer, Intent: c.hash, Made: made, Member: c.member, Contested: len(c.contested()) > 0,
		Owned:     memory.Remembered(after.Own.Entry, p.owner.GetUID()),
		Unchanged: c.live != nil && c.live.GetResourceVersion() == answer.GetResourceVersion(),
	}
	if err == nil {
		same := learned.Unchanged || sendsSame(c, answer, after)
		learnt := p.env.hasher.Learn(c.subjectOf(answer, after.Own.Set, after.Content), c.pathsSentOnce())
		learned.Projection, learned.Overridden = learnt.Projection, learnt.Overridden
		if learnt.Overridden {
			learned.OverriddenFields = overriddenFields(c, after)
		}
		learned.Read, learned.Final = true, learned.Unchanged || (learnt.Taken && same)
	}
	c.memory.Learn(learned, p.now)
	if answer.GetDeletionTimestamp() != nil && !c.partOfAnother() {
		c.memory.ForgetProof() // the next pass reports that it is being deleted
		c.requeue = confirmAfter
	}
}

// maxOverridden is the maximum number of overridden fields of an object that are remembered and reported.
const maxOverridden = 3

// overriddenFields returns the planned fields that have another value in the answer. Additional fields, such as defaults, do not count.
func overriddenFields(c *child, after fieldset.Observation) []apply.FieldChange {
	w := &changeWriter{kind: c.id.GroupKind}
	comparison := fieldset.Comparison{Schema: c.kind.Schema, Report: func(d fieldset.Difference) {
		if !d.Unowned {
			w.values(d.Path, d.Live, d.Intent)
		}
	}}
	comparison.Object(after.Own.Set, c.content, after.Content)
	changes := slices.DeleteFunc(w.changes, func(f apply.FieldChange) bool { return f.To == "" })
	return slices.Clone(changes[:min(len(changes), maxOverridden)])
}

// sendsSame reports whether the rules for single fields, applied to the answer, yield the content that was sent. A field that was left to
// another manager can disappear together with the value that contains it.
func sendsSame(c *child, answer client.Object, after fieldset.Observation) bool {
	if len(c.rules) == 0 || len(c.contested()) > 0 {
		return true
	}
	next := decider{observation: observation{plannedChild: c.plannedChild, facts: c.facts, live: answer}, childDecision: childDecision{rules: c.rules}}
	var err error
	if next.content, err = next.compileContent(); err != nil {
		return false
	}
	next.applyRules(after.Own.Set, after.Content)
	for _, path := range c.leftSeeds {
		next.leaveField(path, nil, nil)
	}
	return next.restoreSentOnce(after.Own.Set, after.Content) && reflect.DeepEqual(next.content, c.content)
}
