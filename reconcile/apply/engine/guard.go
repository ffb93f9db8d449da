package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// notePlan opens the guard for the first plan that follows a change.
func (p *pruner) notePlan() {
	m := &p.memory.Guard
	generation, inputs := p.owner.GetGeneration(), p.plan.Inputs
	if m.Known && m.Generation == generation && m.Inputs == inputs {
		return
	}
	open := m.Known || p.changedBefore()
	*m = memory.Guard{Known: true, Generation: generation, Inputs: inputs, First: p.identity, Open: open}
}

// explained reports whether something that plans depend on has changed, and
// this is the plan that followed.
func (p *pruner) explained() bool {
	m := &p.memory.Guard
	return m.Open && m.First == p.identity
}

// changedBefore reports, for the first plan of this process, whether the
// owner's spec has changed since its last plan was carried out: its status or
// its inventory says so, or a prune of this very plan was under way. Of a group
// nothing says so, and nothing of an owner that has lost its inventory.
func (p *pruner) changedBefore() bool {
	recorded := p.recorded()
	switch {
	case p.group != nil || p.memory.Metadata.Fresh:
		return false
	case p.allowPrune != "" && p.allowPrune == p.explanation():
		return true
	case p.memory.Metadata.Lost:
		return false
	}
	observed, known := p.engine.observedGeneration(p.owner)
	observed = max(observed, recorded.Generation)
	if !known && observed == 0 { // it crashed before anything said so: is this still the first spec?
		return p.owner.GetGeneration() > 1
	}
	return observed < p.owner.GetGeneration()
}

// guard holds back what nothing explains: members that hold data or work, and
// everything if it is more than the options allow. It returns what may go.
func (p *pruner) guard(surplus []memberObject, members int) []memberObject {
	if p.finalize || p.plan.Policy == apply.Withdraw || p.explained() {
		return surplus
	}
	held := func(memberObject) bool { return true }
	reason := apply.PruneTooMany
	if !p.drastic(surplus, members) {
		held = func(m memberObject) bool { return p.engine.holdsData(m.id.GroupKind) }
		reason = apply.PruneHoldsData
	}
	blocked := &apply.PruneBlockedError{Reason: reason, Annotation: p.keys.AllowPrune, OnChild: p.group != nil}
	allowed := []string{p.allowPrune}
	for _, m := range surplus {
		if held(m) && !m.deleting {
			blocked.Objects = append(blocked.Objects, m.id.String())
			allowed = append(allowed, m.allowPrune)
		}
	}
	if len(blocked.Objects) == 0 {
		return surplus
	}
	slices.Sort(blocked.Objects)
	blocked.Token = pruneToken(blocked.Objects...)
	if slices.Contains(allowed, blocked.Token) {
		return surplus
	}
	p.block(blocked)
	p.held = true
	return slices.DeleteFunc(surplus, func(m memberObject) bool { return held(m) && !m.deleting })
}

// drastic reports whether a prune is above the limits of the options.
func (p *pruner) drastic(surplus []memberObject, members int) bool {
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

// explanation stands for the spec and the inputs of this pass, and for the
// objects that are planned.
func (p *pruner) explanation() string {
	names := []string{strconv.FormatInt(p.owner.GetGeneration(), 10), p.plan.Inputs}
	for _, c := range p.children {
		if c.kind != nil {
			names = append(names, c.id.String())
		}
	}
	slices.Sort(names[2:])
	return pruneToken(names...)
}

// noteExplained records on the owner that a large prune is explained, when it
// could not be finished: the status that is written next would hide that the
// spec has changed.
func (p *pruner) noteExplained() error {
	if p.group != nil || p.allowPrune == p.explanation() {
		return nil
	}
	p.allowPrune = p.explanation()
	return p.record(p.recorded())
}

// conditioned is an owner whose conditions can be had without a conversion.
type conditioned interface{ GetConditions() []metav1.Condition }

// observedGeneration is the generation that the owner's status speaks of: its
// own field, else the newest of its conditions.
func (e *env) observedGeneration(owner client.Object) (int64, bool) {
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

// statusSpeaks reports whether the owner's status says which generation it is
// about.
func (e *env) statusSpeaks(owner client.Object) bool {
	if o, ok := owner.(conditioned); ok {
		if slices.ContainsFunc(o.GetConditions(), func(c metav1.Condition) bool { return c.ObservedGeneration > 0 }) {
			return true
		}
	}
	_, speaks := e.observedGeneration(owner)
	return speaks
}

// keepsGeneration reports whether the inventory has to say which generation's
// plan was carried out, as the status does not. The first is not worth a note.
func (p *pass) keepsGeneration() bool {
	generation := p.owner.GetGeneration()
	m := &p.memory.Metadata
	if p.group != nil || p.finalize || generation <= 1 || m.StatusHasGeneration || (m.Known != nil && m.Known.Generation == generation) {
		return false
	}
	m.StatusHasGeneration = p.engine.statusSpeaks(p.owner)
	return !m.StatusHasGeneration
}

// dropsGeneration reports whether the inventory says a generation that the
// status says by now, so that the owner ends the same whatever way it took.
func (p *pass) dropsGeneration() bool {
	m := &p.memory.Metadata
	if p.finalize || m.Known == nil || m.Known.Generation == 0 {
		return false
	}
	m.StatusHasGeneration = m.StatusHasGeneration || p.engine.statusSpeaks(p.owner)
	return m.StatusHasGeneration
}
