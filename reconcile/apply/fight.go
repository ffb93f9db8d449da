package apply

import (
	"slices"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/compare"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// A field of ours that is changed again after every repair belongs to somebody
// who insists: after maxRepairs within fightWindow it is reported instead.
const (
	maxRepairs  = 5
	fightWindow = time.Minute
)

// fights counts the repairs of a child whose intent has not changed, and stops
// them when they do not last. It says whether the child was stopped.
func (p *pass) fights(c *planned, set *managedfields.Set) bool {
	m := c.memory
	if !m.proven || m.intent != c.hash {
		return false
	}
	if m.trouble == nil {
		m.trouble = &trouble{}
	}
	t := m.trouble
	if t.repairs == 0 || p.now.Sub(t.since) > fightWindow {
		t.repairs, t.since = 0, p.now
	}
	if t.repairs++; t.repairs <= maxRepairs {
		return false
	}
	contested := &ContestedError{Kind: c.id.GroupKind.Kind, Namespace: c.id.Key.Namespace, Name: c.id.Key.Name}
	contested.Fields = p.lost(c, set)
	if !slices.ContainsFunc(contested.Fields, func(f ContestedField) bool { return !c.forces(f.Path) }) {
		return false // the plan insists
	}
	t.count = 64 // not a matter of seconds
	t.intent, t.err = c.hash, contested
	c.result.Reason = ReasonContested
	p.trouble(c, Contested, contested)
	t.repairs = 0
	m.proven = false
	return true
}

// lost names the fields that we planned and do not own, and who wrote last.
func (p *pass) lost(c *planned, set *managedfields.Set) []ContestedField {
	if set == nil {
		set = &managedfields.Set{}
	}
	live, err := p.engine.encoder.Live(c.live)
	if err != nil {
		return nil
	}
	manager := managedfields.LastWriter(c.live.GetManagedFields(), c.manager)
	var out []ContestedField
	comparison := compare.Comparison{Report: func(d compare.Difference) {
		if !d.Unowned {
			out = append(out, ContestedField{Path: d.Path, Manager: manager})
		}
	}}
	comparison.Object(set, c.content, live)
	return out
}
