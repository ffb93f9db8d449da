package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
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
	if p.finalize || p.plan.Policy == Withdraw || !p.drastic(surplus, members) || p.explained() || (p.group != nil && !p.memory.prune.applied) {
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
		return m.generation != p.owner.GetGeneration() || m.inputs != p.plan.Inputs
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
	return pruneToken(strconv.FormatInt(p.owner.GetGeneration(), 10), p.plan.Inputs)
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

// surplusMember is a member that is no longer planned.
type surplusMember struct {
	memberObject
	result ObjectResult
}

// decideMember decides whether a member is deleted now: not while that is
// under way, or was refused a moment ago.
func (p *pass) decideMember(m memberObject) *surplusMember {
	s := &surplusMember{memberObject: m, result: ObjectResult{Outcome: Unchanged, Decision: Decision{
		GVK: m.gvk, Key: m.id.Key, UID: m.uid, Verb: VerbNone, Reason: ReasonTerminating,
	}}}
	if m.deleting || p.deletedAlready(m.id, m.uid) {
		return s
	}
	memory := p.memory.child(m.id)
	memory.gvk = m.gvk
	if t := memory.trouble; t.stands(0, m.uid, 0, p.now) {
		s.result.Reason, s.result.Outcome, s.result.Err = ReasonBackoff, Failed, fmt.Errorf("prune: %w", t.err)
		s.result.RequeueAfter = t.until.Sub(p.now)
		return s
	}
	s.result.Verb, s.result.Reason = VerbPrune, ReasonNotPlanned
	return s
}

// pruneAll deletes the surplus and reports whether some of it is still there.
func (p *pass) pruneAll() (remaining bool) {
	var failed []string
	var cause error
	for _, m := range p.pruning.surplus {
		remaining = true
		if m.result.Reason == ReasonTerminating {
			p.result.requeue(confirmAfter)
			continue
		}
		if p.replacedByFailed(m.memberObject) {
			continue
		}
		if m.result.Verb == VerbPrune && !p.pruneOne(m) {
			continue
		}
		p.result.requeue(m.result.RequeueAfter)
		if m.result.Err != nil {
			failed = append(failed, m.id.String())
			cause = errors.Unwrap(m.result.Err)
		}
		p.result.Objects = append(p.result.Objects, m.result)
	}
	if len(failed) > 0 {
		slices.Sort(failed)
		p.result.PruneBlocked = &PruneBlockedError{Reason: PruneFailed, Objects: failed, Cause: cause}
	}
	return remaining
}

// pruneOne deletes a member. It reports whether there is something to say of
// it: not of one that was replaced under its name, which is for the next
// listing.
func (p *pass) pruneOne(m *surplusMember) bool {
	memory := p.memory.child(m.id)
	err := p.engine.deleteExactly(p.ctx, m.gvk, m.id.Key, m.uid, "")
	switch {
	case apierrors.IsConflict(err):
		delete(p.memory.children, m.id)
		p.result.requeue(confirmAfter)
		return false
	case err == nil:
		memory.trouble = nil
		p.noteDeleted(m.id, m.uid)
		m.result.Outcome, m.result.RequeueAfter = Pruned, confirmAfter
		return true
	}
	count := 0
	if t := memory.trouble; t != nil && t.uid == m.uid && t.intent == 0 {
		count = t.count
	}
	wait := backoff(count, p.engine.opts.ContestInterval)
	memory.trouble = &trouble{err: err, uid: m.uid, count: count + 1, until: p.now.Add(wait)}
	m.result.Outcome, m.result.Err, m.result.RequeueAfter = Failed, fmt.Errorf("prune: %w", err), wait
	return true
}

// replacedByFailed reports whether a planned child of the same kind could not be
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
