package decide

import (
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/compare"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// Applied learns from the answer to an apply.
func Applied(p *pass.Pass, c *pass.Child, answer client.Object) {
	m := c.Memory
	noop := c.Live != nil && c.Live.GetResourceVersion() == answer.GetResourceVersion()
	m.Wrote(answer, p.Now)
	if c.Member() {
		m.ProvenOurs(m.UID())
	}
	if noop {
		m.Shown()
	}
	m.Accept(c.Hash, answer.GetResourceVersion())
	m.Projects(0)
	m.Shows(0)
	m.Owns(memory.Remembered(managedfields.Entry(answer.GetManagedFields(), c.Manager)))
	if live, err := p.Env.Encoder.Live(answer); err == nil {
		set := m.Owned().Set()
		final := noop || (compare.Taken(c.Kind.Schema, set, c.Content, live) && sendsSame(p, c, answer, set, live))
		m.Projects(Projection(p, c, WithoutCreateOnly(c, set), live))
		m.Answered(final)
	}
	if len(c.Contested) == 0 {
		m.Uncontested()
	}
	m.Succeeded(p.Now)
}

// sendsSame reports whether the rules for single fields make of the answer what
// was sent. A field that was left to others can be gone with the value that it
// is a part of.
func sendsSame(p *pass.Pass, c *pass.Child, answer client.Object, set *managedfields.Set, live map[string]any) bool {
	if len(c.Rules) == 0 || len(c.Contested) > 0 {
		return true
	}
	next := &pass.Child{
		Planned: c.Planned, Kind: c.Kind, ID: c.ID, Hash: c.Hash, Memory: c.Memory, Reach: c.Reach, Manager: c.Manager, Rules: c.Rules, Live: answer,
	}
	var err error
	if next.Content, err = compile(p, next); err != nil {
		return false
	}
	applyRules(next, set, live)
	for _, path := range c.LeftSeeds {
		Leave(next, path, nil, nil)
	}
	return restoreSentOnce(next, set, live) && reflect.DeepEqual(next.Content, c.Content)
}
