package decide

import (
	"encoding/json"
	"reflect"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// Answered is the last stage of an apply: it notes what the answer has changed,
// and learns from it.
func Answered(p *pass.Pass, c *pass.Child, answer client.Object) {
	made := c.Live == nil && c.UID == ""
	switch {
	case made:
		c.Result.Outcome = apply.OutcomeCreated
	case c.Live == nil:
		c.Result.Outcome = apply.OutcomeUpdated
	case c.Live.GetResourceVersion() != answer.GetResourceVersion():
		c.Result.Outcome, c.Result.Fields = apply.OutcomeUpdated, Changes(p, c)
	}
	learn(p, c, answer, made)
	if len(c.Contested) > 0 {
		ReportContest(p, c)
	}
}

// Removed learns from the answer to a removal of fields.
func Removed(p *pass.Pass, c *pass.Child, answer client.Object) { learn(p, c, answer, false) }

// behind reports whether a status has an observedGeneration, and one below the generation.
func behind(content map[string]any, generation int64) bool {
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

func learn(p *pass.Pass, c *pass.Child, answer client.Object, made bool) {
	c.Answer = answer
	after, err := fieldset.Observe(p.Env.Encoder, answer, c.Manager)
	c.Result.Unobserved = c.Result.Wrote() && c.Planned.Mode == apply.Own && behind(after.Content, answer.GetGeneration())
	learned := memory.Answer{
		Object: answer, Intent: c.Hash, Made: made, Member: c.Member, Contested: len(c.Contested) > 0,
		Owned:     memory.Remembered(after.Own.Entry, p.Owner.GetUID()),
		Unchanged: c.Live != nil && c.Live.GetResourceVersion() == answer.GetResourceVersion(),
	}
	if err == nil {
		same := learned.Unchanged || sendsSame(p, c, answer, after)
		learnt := p.Env.Hasher.Learn(subject(p, c, answer, after.Own.Set, after.Content), sentOnce(c))
		learned.Projection, learned.Overridden = learnt.Projection, learnt.Overridden
		if learnt.Overridden {
			learned.OverriddenFields = overriddenFields(c, after)
		}
		learned.Read, learned.Final = true, learned.Unchanged || (learnt.Taken && same)
	}
	c.Memory.Learn(learned, p.Now)
	if answer.GetDeletionTimestamp() != nil && !partOf(p, c) {
		c.Memory.ForgetProof() // the next pass reports that it is being deleted
		c.Requeue = pass.ConfirmAfter
	}
}

// maxOverridden is how many overridden fields of an object are remembered and
// reported.
const maxOverridden = 3

// overriddenFields are planned fields that have another value in the answer.
// What is there beside planned values, such as a default, is none.
func overriddenFields(c *pass.Child, after fieldset.Observation) []apply.FieldChange {
	w := &ChangeWriter{Child: c}
	comparison := fieldset.Comparison{Schema: c.Kind.Schema, Report: func(d fieldset.Difference) {
		if !d.Unowned {
			w.Values(d.Path, d.Live, d.Intent)
		}
	}}
	comparison.Object(after.Own.Set, c.Content, after.Content)
	changes := slices.DeleteFunc(w.Changes, func(f apply.FieldChange) bool { return f.To == "" })
	return slices.Clone(changes[:min(len(changes), maxOverridden)])
}

// sendsSame reports whether the rules for single fields make of the answer what
// was sent. A field that was left to others can be gone with the value that it
// is a part of.
func sendsSame(p *pass.Pass, c *pass.Child, answer client.Object, after fieldset.Observation) bool {
	if len(c.Rules) == 0 || len(c.Contested) > 0 {
		return true
	}
	next := &pass.Child{
		Planned: c.Planned, Kind: c.Kind, ID: c.ID, Hash: c.Hash, Memory: c.Memory, Member: c.Member, Reach: c.Reach, Manager: c.Manager,
		Rules: c.Rules, Live: answer,
	}
	var err error
	if next.Content, err = compile(p, next); err != nil {
		return false
	}
	applyRules(p, next, after.Own.Set, after.Content)
	for _, path := range c.LeftSeeds {
		Leave(next, path, nil, nil)
	}
	return restoreSentOnce(next, after.Own.Set, after.Content) && reflect.DeepEqual(next.Content, c.Content)
}
