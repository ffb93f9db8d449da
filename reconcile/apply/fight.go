package apply

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A field of ours that is changed again after every repair belongs to somebody
// who insists: after maxRepairs within fightWindow it is reported instead.
const (
	maxRepairs  = 5
	fightWindow = time.Minute
)

// fights counts the repairs of a child whose intent has not changed, and stops
// them when they do not last. It says whether the child was stopped.
func (p *pass) fights(c *planned, set *fieldSet) bool {
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
	contested := &ContestedError{Kind: c.id.gk.Kind, Namespace: c.id.key.Namespace, Name: c.id.key.Name}
	contested.Fields = p.lost(c, set)
	if !slices.ContainsFunc(contested.Fields, func(f ContestedField) bool { return !c.forces(f.Path) }) {
		return false // the plan insists
	}
	t.count = 64 // not a matter of seconds
	t.intent, t.err = c.hash, contested
	p.trouble(c, Contested, contested)
	t.repairs = 0
	m.proven = false
	return true
}

// lost names the fields that we planned and do not own, and who wrote last.
func (p *pass) lost(c *planned, set *fieldSet) []ContestedField {
	if set == nil {
		set = &fieldSet{}
	}
	live, err := p.engine.liveContent(c.live)
	if err != nil {
		return nil
	}
	manager := lastWriter(c.live.GetManagedFields(), c.manager)
	var out []ContestedField
	compare := comparison{report: func(d difference) {
		if !d.unowned {
			out = append(out, ContestedField{Path: d.path, Manager: manager})
		}
	}}
	compare.fields(nil, set, c.content, live)
	return out
}

// lastWriter is the manager besides ours that wrote last.
func lastWriter(entries []metav1.ManagedFieldsEntry, ours string) string {
	var last *metav1.ManagedFieldsEntry
	for i := range entries {
		e := &entries[i]
		if (e.Manager == ours && e.Operation == metav1.ManagedFieldsOperationApply) || e.Subresource == "status" {
			continue
		}
		if last == nil || (e.Time != nil && (last.Time == nil || last.Time.Before(e.Time))) {
			last = e
		}
	}
	if last == nil {
		return "unknown"
	}
	return last.Manager
}
