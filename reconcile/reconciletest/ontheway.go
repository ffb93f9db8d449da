package reconciletest

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// twin plays the story of a baseline once more and notes what is drawn at random.
func (e *explorer) twin(ctx context.Context, p plot, state State) error {
	r := play(ctx, e.system, p, "")
	if r.last != nil {
		defer r.last.end()
	}
	if r.err != nil {
		return r.err
	}
	other, err := r.world.state()
	if err == nil {
		e.drawn.add(state, other)
	}
	return err
}

// learn notes what a run without faults has stored of each object that is no owner.
func (e *explorer) learn(r *run) error {
	for object, content := range e.contents(r) {
		for _, one := range content {
			e.known(object, one.text)
		}
	}
	state, err := r.world.state()
	if err != nil {
		return err
	}
	e.drawn.mask(state)
	for object, content := range state {
		e.known(object, printed(specOf(content)))
	}
	return nil
}

func (e *explorer) known(object, content string) {
	if e.stored[object] == nil {
		e.stored[object] = map[string]bool{}
	}
	e.stored[object][content] = true
}

// version of an object that the operator has stored.
type storedVersion struct {
	text    string
	content map[string]any
	call    call
}

// contents are the versions of objects that the operator has stored in a run, save those of the owners.
func (e *explorer) contents(r *run) map[string][]storedVersion {
	out := map[string][]storedVersion{}
	owners := r.world.ownerKinds()
	all, err := r.world.all()
	if err != nil {
		return out
	}
	names := identities(all)
	for _, c := range r.calls {
		if !c.changed || c.after == nil || owners[c.gvk.GroupKind()] || c.request.Subresource == "status" {
			continue
		}
		for _, u := range []*unstructured.Unstructured{c.before, c.after} {
			if u != nil {
				names[u.GetUID()] = "uid of " + displayName(c.gvk, c.key, u)
			}
		}
		u := c.after
		if e.system.Normalise != nil {
			u = u.DeepCopy()
			e.system.Normalise(u)
		}
		content, _ := normalise(u, names).(map[string]any)
		if c.gvk.Group == "" && c.gvk.Kind == "Service" {
			hideDrawn(content)
		}
		object := displayName(c.gvk, c.key, c.after)
		e.drawn.mask(State{object: content})
		content = specOf(content)
		out[object] = append(out[object], storedVersion{printed(content), content, c})
	}
	return out
}

// specOf is what an operator decides about an object: all but its status and metadata.
func specOf(content map[string]any) map[string]any {
	return objects.Without(content, "status", "metadata")
}

// checkOnTheWay looks at all that a run with a fault has stored.
func (e *explorer) checkOnTheWay(c testCase, r *run) {
	e.checkInvariants(c.name, r)
	if c.act != nil {
		return
	}
	e.checkSecrets(c.name, r)
	v := c.plot.variant
	if v.slow {
		e.checkEarly(c.name, r)
	}
	if v.inject == nil {
		return
	}
	if refusals()[v.inject.fault] != nil && !c.plot.unseen {
		e.checkDamage(c.name, r)
	}
	if len(r.claims) > 0 && r.refused && v.inject.lasting == forever {
		e.checkClaims(c, r)
	}
}

// checkClaims looks for owners that were ready although a write of a child was refused all the time.
func (e *explorer) checkClaims(c testCase, r *run) {
	owners := r.world.ownerKinds()
	for _, sent := range r.calls {
		if sent.request.String() == c.plot.variant.inject.call && !owners[sent.gvk.GroupKind()] &&
			slices.Contains([]string{"create", "apply", "update", "patch"}, sent.request.Verb) && len(e.system.Owners) == 1 {
			e.find(c.name, CheckReady, "%s calls itself ready although %s is refused", strings.Join(r.claims, ", "), sent.request)
			return
		}
	}
}

// checkDamage looks for contents that no run without faults stores.
func (e *explorer) checkDamage(name string, r *run) {
	for object, versions := range e.contents(r) {
		for _, one := range versions {
			if e.stored[object] == nil || e.stored[object][one.text] {
				continue
			}
			all := differences(State{object: specOf(e.any(object))}, State{object: one.content})
			e.find(name, CheckDamage, "%s stores what no run without faults does; beside one of those:\n%s", one.call, printedDifferences(all))
			return
		}
	}
}

// any is the end of an object in the first run without faults that has it.
func (e *explorer) any(object string) map[string]any {
	for _, b := range e.plots {
		if b.state[object] != nil {
			return b.state[object]
		}
	}
	return map[string]any{}
}

// checkSecrets looks for a value in a Secret that is drawn at random and drawn again while the Secret lives.
func (e *explorer) checkSecrets(name string, r *run) {
	for _, c := range r.calls {
		if c.gvk.Group != "" || c.gvk.Kind != "Secret" || !c.changed || c.before == nil || c.after == nil || c.before.GetUID() != c.after.GetUID() {
			continue
		}
		object := displayName(c.gvk, c.key, c.after)
		data, _ := c.before.Object["data"].(map[string]any)
		now, _ := c.after.Object["data"].(map[string]any)
		for key, value := range data {
			if e.drawn[object]["data."+key] && value != "" && now[key] != value {
				e.find(name, CheckDamage, "%s: data.%s was drawn at random, and %s draws it again", object, key, c)
				return
			}
		}
	}
}

// checkEarly looks for owners that call themselves ready too early.
func (e *explorer) checkEarly(name string, r *run) {
	if r.last.early != "" && e.playedBySomebody(r) {
		e.find(name, CheckReady, "%s", r.last.early)
	}
}

// playedBySomebody reports whether anybody plays the controllers of the workloads: else none is ever ready.
func (e *explorer) playedBySomebody(r *run) bool {
	for _, gvk := range workloads() {
		items, err := r.world.list(gvk)
		if err != nil {
			continue
		}
		for _, u := range items {
			if u.Object["status"] != nil && unready(u) == "" {
				return true
			}
		}
	}
	return false
}

// checkRefused looks for requests that the API server has refused until the end, without a fault.
func (e *explorer) checkRefused(name string, r *run) {
	if e.system.Rules != nil {
		return
	}
	last := map[string]call{}
	var order []string
	for _, c := range r.calls {
		request := c.request.String()
		if _, known := last[request]; !known {
			order = append(order, request)
		}
		last[request] = c
	}
	for _, request := range order {
		if err := last[request].err; apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
			e.find(name, CheckRefused, "the API server refuses %s: %v", request, err)
			return
		}
	}
}

// compareReborn compares the end after owners were made again with that of a world in which they have these UIDs at once: names
// may be derived from them.
func (e *explorer) compareReborn(ctx context.Context, name string, r *run, got State) error {
	system := e.system
	system.uids = map[string]types.UID{}
	owners := r.world.ownerKinds()
	all, err := r.world.all()
	if err != nil {
		return err
	}
	for gvk, items := range all {
		for key, u := range items {
			if owners[gvk.GroupKind()] {
				system.uids[objects.Name(gvk, key)] = u.GetUID()
			}
		}
	}
	fresh := play(ctx, system, plot{steps: []step{stepA}}, "")
	if fresh.last != nil {
		defer fresh.last.end()
	}
	if fresh.err != nil {
		return fresh.err
	}
	want, err := fresh.world.state()
	if err != nil {
		return err
	}
	e.drawn.mask(want)
	e.matches(name, want, got)
	return nil
}

// compareAs compares the end of a run with that of its own story without faults, or of its last step when it has another one.
func (e *explorer) compareAs(name string, base *baseline, last step, got State) bool {
	switch {
	case base.last() == last && !base.again():
		return e.matches(name, base.state, got)
	case e.system.Horizon > 0:
		return true // what a schedule has made depends on when its owner was changed
	}
	return e.compare(name, last, got)
}

// checkInvariants holds what the operator has stored against the invariants.
func (e *explorer) checkInvariants(name string, r *run) {
	for _, invariant := range e.system.Invariants {
		for _, c := range r.calls {
			if c.changed && c.after != nil && invariant.broken(r.world.scheme, c.gvk, c.after) {
				e.find(name, CheckInvariant, "%s: not so after %s in pass %d", invariant.text, c, c.pass)
				break
			}
		}
	}
}
