package search

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// twin plays the story of a baseline once more and notes what is drawn at random.
func (e *explorer) twin(ctx context.Context, p run.Plot, state world.State) error {
	r := run.Play(ctx, e.system, p, "")
	if r.Last != nil {
		defer r.Last.End()
	}
	if r.Err != nil {
		return r.Err
	}
	other, err := r.World.State()
	if err == nil {
		e.drawn.add(state, other)
	}
	return err
}

// learn notes what a run without faults has stored of each object that is no owner.
func (e *explorer) learn(r *run.Run) error {
	for object, content := range e.contents(r) {
		for _, one := range content {
			e.known(object, one.text)
		}
	}
	state, err := r.World.State()
	if err != nil {
		return err
	}
	e.drawn.mask(state)
	for object, content := range state {
		e.known(object, world.Printed(specOf(content)))
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
	call    transport.Call
}

// contents are the versions of objects that the operator has stored in a run, save those of the owners.
func (e *explorer) contents(r *run.Run) map[string][]storedVersion {
	out := map[string][]storedVersion{}
	owners := r.World.OwnerKinds()
	all, err := r.World.All()
	if err != nil {
		return out
	}
	names := world.Identities(all)
	for _, c := range r.Calls {
		if !c.Changed || c.After == nil || owners[c.GVK.GroupKind()] || c.Request.Subresource == "status" {
			continue
		}
		for _, u := range []*unstructured.Unstructured{c.Before, c.After} {
			if u != nil {
				names[u.GetUID()] = "uid of " + world.DisplayName(c.GVK, c.Key, u)
			}
		}
		u := c.After
		if e.system.Normalise != nil {
			u = u.DeepCopy()
			e.system.Normalise(u)
		}
		content, _ := world.Normalise(u, names).(map[string]any)
		if c.GVK.Group == "" && c.GVK.Kind == "Service" {
			world.HideDrawn(content)
		}
		object := world.DisplayName(c.GVK, c.Key, c.After)
		e.drawn.mask(world.State{object: content})
		content = specOf(content)
		out[object] = append(out[object], storedVersion{world.Printed(content), content, c})
	}
	return out
}

// specOf is what an operator decides about an object: all but its status and metadata.
func specOf(content map[string]any) map[string]any {
	return objects.Without(content, "status", "metadata")
}

// checkOnTheWay looks at all that a run with a fault has stored.
func (e *explorer) checkOnTheWay(c testCase, r *run.Run) {
	e.checkInvariants(c.name, r)
	if c.act != nil {
		return
	}
	e.checkSecrets(c.name, r)
	v := c.plot.Variant
	if v.Slow {
		e.checkEarly(c.name, r)
	}
	if len(v.Inject) == 0 {
		return
	}
	other := func(n *transport.Injection) bool { return transport.Refusals()[n.Fault] == nil }
	if !slices.ContainsFunc(v.Inject, other) && !c.plot.Unseen {
		e.checkDamage(c.name, r)
	}
	if len(r.Claims) > 0 && r.Refused && v.Inject[0].Lasts() {
		e.checkClaims(c, r)
	}
}

// checkClaims looks for owners that were ready although a write of a child was refused all the time. What time alone has made due
// after they were ready is left to them.
func (e *explorer) checkClaims(c testCase, r *run.Run) {
	owners := r.World.OwnerKinds()
	var claimed time.Time
	for _, sent := range r.Calls {
		if owners[sent.GVK.GroupKind()] && sent.After != nil && world.ClaimsReady(sent.After) {
			claimed = sent.At
		}
		if sent.Request.String() == c.plot.Variant.Inject[0].Call && !owners[sent.GVK.GroupKind()] &&
			slices.Contains([]string{"create", "apply", "update", "patch"}, sent.Request.Verb) && len(e.system.Owners) == 1 {
			if !claimed.IsZero() && sent.At.Sub(claimed) >= run.PollInterval {
				return
			}
			e.find(c.name, finding.CheckReady, "%s calls itself ready although %s is refused", strings.Join(r.Claims, ", "), sent.Request)
			return
		}
	}
}

// checkDamage looks for contents that no run without faults stores.
func (e *explorer) checkDamage(name string, r *run.Run) {
	contents := e.contents(r)
	for _, object := range slices.Sorted(maps.Keys(contents)) {
		for _, one := range contents[object] {
			if e.stored[object] == nil || e.stored[object][one.text] {
				continue
			}
			all := differences(world.State{object: specOf(e.any(object))}, world.State{object: one.content})
			e.find(name, finding.CheckDamage, "%s stores what no run without faults does; beside one of those:\n%s", one.call, printedDifferences(all))
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
func (e *explorer) checkSecrets(name string, r *run.Run) {
	for _, c := range r.Calls {
		if c.GVK.Group != "" || c.GVK.Kind != "Secret" || !c.Changed || c.Before == nil || c.After == nil || c.Before.GetUID() != c.After.GetUID() {
			continue
		}
		object := world.DisplayName(c.GVK, c.Key, c.After)
		data, _ := c.Before.Object["data"].(map[string]any)
		now, _ := c.After.Object["data"].(map[string]any)
		for key, value := range data {
			if e.drawn[object]["data."+key] && value != "" && now[key] != value {
				e.find(name, finding.CheckDamage, "%s: data.%s was drawn at random, and %s draws it again", object, key, c)
				return
			}
		}
	}
}

// checkEarly looks for owners that call themselves ready too early.
func (e *explorer) checkEarly(name string, r *run.Run) {
	if r.Last.Early != "" && e.playedBySomebody(r) {
		e.find(name, finding.CheckReady, "%s", r.Last.Early)
	}
}

// playedBySomebody reports whether anybody plays the controllers of the workloads: else none is ever ready.
func (e *explorer) playedBySomebody(r *run.Run) bool {
	for _, gvk := range world.Workloads() {
		items, err := r.World.List(gvk)
		if err != nil {
			continue
		}
		for _, u := range items {
			if u.Object["status"] != nil && world.Unready(u) == "" {
				return true
			}
		}
	}
	return false
}

// checkRefused looks for requests that the API server has refused until the end, without a fault.
func (e *explorer) checkRefused(name string, r *run.Run) {
	if e.system.Rules != nil {
		return
	}
	last := map[string]transport.Call{}
	var order []string
	for _, c := range r.Calls {
		request := c.Request.String()
		if _, known := last[request]; !known {
			order = append(order, request)
		}
		last[request] = c
	}
	for _, request := range order {
		if err := last[request].Err; apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
			e.find(name, finding.CheckRefused, "the API server refuses %s: %v", request, err)
			return
		}
	}
}

// compareReborn compares the end after owners were made again with that of a world in which they have these UIDs at once: names
// may be derived from them.
func (e *explorer) compareReborn(ctx context.Context, name string, r *run.Run, got world.State) error {
	system := e.system
	system.Uids = map[string]types.UID{}
	owners := r.World.OwnerKinds()
	all, err := r.World.All()
	if err != nil {
		return err
	}
	for gvk, items := range all {
		for key, u := range items {
			if owners[gvk.GroupKind()] {
				system.Uids[objects.Name(gvk, key)] = u.GetUID()
			}
		}
	}
	fresh := run.Play(ctx, system, run.Plot{Steps: []description.Step{description.StepA}}, "")
	if fresh.Last != nil {
		defer fresh.Last.End()
	}
	if fresh.Err != nil {
		return fresh.Err
	}
	want, err := fresh.World.State()
	if err != nil {
		return err
	}
	e.drawn.mask(want)
	e.matches(name, want, got)
	return nil
}

// compareAs compares the end of a run with that of its own story without faults, or of its last step when it has another one.
func (e *explorer) compareAs(name string, base *baseline, last description.Step, got world.State) bool {
	switch {
	case base.last() == last && !base.again():
		return e.matches(name, base.state, got)
	case e.system.Horizon > 0:
		return true // what a schedule has made depends on when its owner was changed
	}
	return e.compare(name, last, got)
}

// checkInvariants holds what the operator has stored against the invariants.
func (e *explorer) checkInvariants(name string, r *run.Run) {
	for _, invariant := range e.system.Invariants {
		for _, c := range r.Calls {
			if !c.Changed || c.After == nil {
				continue
			}
			if text, broken := description.Breaks(invariant, r.World.Scheme, c.GVK, c.After); broken {
				e.find(name, finding.CheckInvariant, "%s: not so after %s in pass %d", text, c, c.Pass)
				break
			}
		}
	}
}
