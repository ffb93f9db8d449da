package engine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/compare"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// lostEntry reports whether the entries have none of ours although we have
// applied to the object, and not because others have taken all that was in it.
func (c *planned) lostEntry(entries []metav1.ManagedFieldsEntry) bool {
	if managedfields.Entry(entries, c.manager) != nil || c.memory.UID != c.live.GetUID() || !c.memory.Owned.Known() {
		return false
	}
	lost, err := c.memory.Owned.Without(entries)
	return err == nil && len(lost) > 0
}

// restored reports whether the object, whose entry of ours was given back, is as
// planned: nothing else was lost. after is the object as it was answered.
func (p *pass) restored(c *planned, after *metav1.PartialObjectMetadata) bool {
	m := c.memory
	entry := managedfields.Entry(after.ManagedFields, c.manager)
	if !c.lostEntry(c.live.GetManagedFields()) || !m.Proven || m.Intent != c.hash {
		return false
	}
	live, err := p.engine.encoder.Live(c.live)
	if err != nil || after.UID != m.UID {
		return false
	}
	set := memory.Remembered(entry).Set()
	if len(c.child.Fields) > 0 || p.projection(c, set, live) != m.Projection || !compare.Taken(c.kind.Schema, set, c.content, live) {
		return false
	}
	m.Wrote(after, p.now)
	m.Accept(c.hash, after.ResourceVersion)
	m.Owned = memory.Remembered(entry)
	c.result.Outcome = apply.Updated
	return true
}
