package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func newUnstructuredList(gvk schema.GroupVersionKind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	return list
}

// surplus are the members that are no longer planned and ours to delete.
func (p *pass) surplus(members []memberObject) []memberObject {
	var out []memberObject
	for _, m := range members {
		if m.planned || m.foreign || (p.finalize && m.reached) {
			continue
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b memberObject) int { return rank(b.id.GroupKind) - rank(a.id.GroupKind) })
	return out
}

// guard blocks a prune of most children that nothing explains: neither the
// owner's spec nor the inputs of the plan have changed since a pass in which
// all was well. After a restart that pass is unknown; then the owner's status
// says whether its spec has changed since (without a status, its generation),
// and an annotation whether an explained prune was under way.
func (p *pass) guard(surplus []memberObject, members int) *PruneBlockedError {
	if p.finalize || p.set.Withdraw || !p.drastic(surplus, members) || p.explained() || (p.group != nil && !p.memory.prune.applied) {
		return nil
	}
	doomed := make([]string, 0, len(surplus))
	for _, m := range surplus {
		if !m.deleting {
			doomed = append(doomed, m.id.String())
		}
	}
	slices.Sort(doomed)
	token := pruneToken(doomed...)
	if p.allowPrune == token {
		return nil
	}
	return &PruneBlockedError{Reason: PruneTooMany, Objects: doomed, Annotation: p.engine.AllowPruneAnnotation(), Token: token}
}

// drastic says that a prune is above the limits of the options.
func (p *pass) drastic(surplus []memberObject, members int) bool {
	doomed := 0
	for _, m := range surplus {
		if !m.deleting {
			doomed++
		}
	}
	o := &p.engine.opts
	return doomed >= o.PruneMinimum && float64(doomed) > o.PruneShare*float64(members)
}

// pruneToken stands for exactly these objects.
func pruneToken(names ...string) string {
	h := sha256.New()
	for _, name := range names {
		_, _ = fmt.Fprintf(h, "%d:%s", len(name), name)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// explained says that something that plans depend on has changed.
func (p *pass) explained() bool {
	m := &p.memory.prune
	if m.applied {
		return m.generation != p.owner.GetGeneration() || m.inputs != p.set.Inputs
	}
	if p.allowPrune == p.explanation() {
		return true
	}
	observed, known := p.engine.observedGeneration(p.owner)
	if !known { // whoever made the members crashed before it wrote a status: for the first spec, and is this another one?
		return p.owner.GetGeneration() > 1
	}
	return observed < p.owner.GetGeneration()
}

// explanation stands for the spec and the inputs of this pass.
func (p *pass) explanation() string {
	return pruneToken(strconv.FormatInt(p.owner.GetGeneration(), 10), p.set.Inputs)
}

// noteExplained records on the owner that a drastic prune is explained, when
// it could not be finished: the status that is written next would hide that
// the spec has changed.
func (p *pass) noteExplained() error {
	if p.group != nil || p.allowPrune == p.explanation() {
		return nil
	}
	recorded, err := p.recorded()
	if err != nil {
		return err
	}
	p.allowPrune = p.explanation()
	return p.record(recorded)
}

// observedGeneration is the generation that the owner's status speaks of: its
// own field, else the newest of its conditions.
func (e *Engine) observedGeneration(owner client.Object) (int64, bool) {
	content, err := e.encoder.Live(owner)
	if err != nil {
		return 0, false
	}
	status, _ := content["status"].(map[string]any)
	if n, ok := status["observedGeneration"].(int64); ok {
		return n, true
	}
	var newest int64
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		if n, ok := m["observedGeneration"].(int64); ok {
			newest = max(newest, n)
		}
	}
	return newest, newest > 0
}

// pruneAll deletes the surplus and says whether some of it is still there.
func (p *pass) pruneAll(surplus []memberObject) (remaining bool) {
	var failed []string
	var cause error
	for _, m := range surplus {
		remaining = true
		if m.deleting || p.deletedAlready(m.id, m.uid) {
			p.result.requeue(confirmAfter)
			continue
		}
		if p.replacedByFailed(m) {
			continue
		}
		result := ObjectResult{GVK: m.gvk, Key: m.id.Key, UID: m.uid, Outcome: Pruned}
		err := p.deleteMember(m)
		switch {
		case apierrors.IsConflict(err):
			// Replaced under the same name: the new one is for the next listing.
			delete(p.memory.children, m.id)
			p.result.requeue(confirmAfter)
			continue
		case err != nil:
			result.Outcome, result.Err = Failed, fmt.Errorf("prune: %w", err)
			failed = append(failed, m.id.String())
			cause = err
		default:
			p.noteDeleted(m.id, m.uid)
			p.result.requeue(confirmAfter)
		}
		p.result.Objects = append(p.result.Objects, result)
	}
	if len(failed) > 0 {
		slices.Sort(failed)
		p.result.PruneBlocked = &PruneBlockedError{Reason: PruneFailed, Objects: failed, Cause: cause}
	}
	return remaining
}

// deleteMember deletes a member, unless that was refused a moment ago.
func (p *pass) deleteMember(m memberObject) error {
	memory := p.memory.child(m.id)
	memory.gvk = m.gvk
	t := memory.trouble
	if t.stands(0, m.uid, 0, p.now) {
		p.result.requeue(t.until.Sub(p.now))
		return t.err
	}
	err := p.engine.deleteExactly(p.ctx, m.gvk, m.id.Key, m.uid, "")
	if err == nil || apierrors.IsConflict(err) {
		memory.trouble = nil
		return err
	}
	count := 0
	if t != nil && t.uid == m.uid && t.intent == 0 {
		count = t.count
	}
	wait := backoff(count, p.engine.opts.ContestInterval)
	memory.trouble = &trouble{err: err, uid: m.uid, count: count + 1, until: p.now.Add(wait)}
	p.result.requeue(wait)
	return err
}

// replacedByFailed says that a planned child of the same kind could not be
// written: the old one may still be needed in its place.
func (p *pass) replacedByFailed(m memberObject) bool {
	return !p.finalize && slices.ContainsFunc(p.children, func(c *planned) bool {
		return c.id.GroupKind == m.id.GroupKind && c.result.Err != nil
	})
}

// dropForgotten releases the memory of objects that are gone.
func (p *pass) dropForgotten() {
	for id, m := range p.memory.children {
		if m.pass != p.memory.pass {
			delete(p.memory.children, id)
		}
	}
}
