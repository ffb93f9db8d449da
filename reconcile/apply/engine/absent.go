package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// A field that the plan wants absent is removed by a patch of that field in the
// version that was looked at, as server-side apply only removes what nobody
// else owns. Nothing of it is ours afterwards, so that there is nothing to give
// back.

// removalManager is the field manager of these patches. In a list that is owned
// as a whole the server makes whoever removes an item an owner of the rest,
// which must not be mixed up with what we apply.
func (e *env) removalManager() string { return e.opts.FieldManager + ":absent" }

// noteUnwanted finds the fields of an object that the plan wants absent, save
// those that are left to others.
func (c *planned) noteUnwanted(live map[string]any) {
	c.unwanted = nil
	var paths []apply.Path
	for i := range c.rules {
		if rule := &c.rules[i]; rule.Policy == apply.AbsentField {
			paths = append(paths, rule.Path)
		}
	}
	if len(paths) == 0 {
		return
	}
	found := managedfields.Places(live, paths...)
	c.givenWay(found)
	c.unwanted = slices.DeleteFunc(found, func(f managedfields.Place) bool {
		return slices.ContainsFunc(c.contested, func(t apply.ContestedField) bool { return t.Path == f.Text })
	})
}

// givenWay ends the contest about fields that are absent now.
func (c *planned) givenWay(found []managedfields.Place) {
	rest := slices.DeleteFunc(slices.Clone(c.contested), func(t apply.ContestedField) bool {
		return slices.Contains(c.lostAbsent, t.Path) && !slices.ContainsFunc(found, func(f managedfields.Place) bool { return f.Text == t.Path })
	})
	if len(rest) == len(c.contested) || c.memory.Contest == nil {
		return
	}
	c.contested = rest
	t := *c.memory.Contest
	t.Fields = rest
	c.memory.Contest = &t
}

// removes reports whether fields are to be removed. Those that come back each
// time are left to whoever sets them.
func (p *pass) removes(c *planned) bool {
	m := c.memory
	var lost []apply.ContestedField
	c.unwanted = slices.DeleteFunc(c.unwanted, func(f managedfields.Place) bool {
		if m.Repaired(f.Text, p.now) <= memory.MaxRepairs {
			return false
		}
		lost = append(lost, apply.ContestedField{Path: f.Text, Manager: c.setterOf(f.Path)})
		return true
	})
	if len(lost) > 0 {
		for _, f := range lost {
			c.lostAbsent = append(slices.Clone(c.lostAbsent), f.Path)
		}
		p.contest(c, lost)
		m.Contest.Until = p.now.Add(p.engine.opts.ContestInterval) // not a matter of seconds
		for _, f := range lost {
			delete(m.Repairs, f.Path)
		}
	}
	return len(c.unwanted) > 0
}

// setterOf is the other manager that owns a field, or the last one that wrote
// if that is not known.
func (c *planned) setterOf(path apply.Path) string {
	var setter *metav1.ManagedFieldsEntry
	entries := c.live.GetManagedFields()
	for i := range entries {
		e := &entries[i]
		if e.FieldsV1 == nil || (e.Manager == c.manager && e.Operation == metav1.ManagedFieldsOperationApply) {
			continue
		}
		set, err := managedfields.Parse(e.FieldsV1.GetRawBytes())
		if err == nil && path.Owns(set) && (setter == nil || managedfields.Later(e, setter)) {
			setter = e
		}
	}
	if setter == nil {
		return managedfields.LastWriter(entries, c.manager)
	}
	return setter.Manager
}

// remove removes the unwanted fields of the object that was looked at. What has
// changed since is looked at again.
func (p *pass) remove(c *planned) error {
	for range maxTries {
		answer, err := p.sendRemoval(c)
		if err == nil {
			p.removed(c, answer)
			return nil
		}
		// A field that is gone already makes the patch invalid.
		if !apierrors.IsConflict(err) && (c.fresh || !apierrors.IsInvalid(err)) {
			return fmt.Errorf("remove %s: %w", c.unwanted[0].Text, err)
		}
		p.again(c)
		switch c.action {
		case actionNone:
			return nil
		case actionRemove:
		case actionApply, actionCreate, actionMigrate:
			return p.patch(c)
		}
	}
	return errUnsettled
}

// sendRemoval sends one patch that removes the unwanted fields.
func (p *pass) sendRemoval(c *planned, opts ...client.PatchOption) (client.Object, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
	}
	patch := []operation{
		{"test", "/metadata/uid", c.live.GetUID()},
		{"replace", "/metadata/resourceVersion", c.live.GetResourceVersion()},
	}
	for i := range c.unwanted {
		for _, key := range c.unwanted[i].Items {
			patch = append(patch, operation{"test", key.Pointer, key.Value})
		}
	}
	for i := range c.unwanted {
		patch = append(patch, operation{Op: "remove", Path: c.unwanted[i].Pointer})
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	o := c.kind.NewObject()
	o.SetName(c.id.Key.Name)
	o.SetNamespace(c.id.Key.Namespace)
	opts = append(opts, client.FieldOwner(p.engine.removalManager()))
	if err := p.engine.client.Patch(p.ctx, o, client.RawPatch(types.JSONPatchType, data), opts...); err != nil {
		return nil, err
	}
	return o, nil
}

// removed notes the answer to a removal. A field that the answer has again is
// for the next pass.
func (p *pass) removed(c *planned, answer client.Object) {
	if c.result.Outcome != apply.Created {
		c.result.Outcome = apply.Updated
	}
	c.result.Fields = append(c.result.Fields, c.removals(c.result.Fields)...)
	p.applied(c, answer)
	if live, err := p.engine.encoder.Live(answer); err == nil {
		if c.noteUnwanted(live); len(c.unwanted) > 0 {
			c.memory.Proven = false
		}
	}
	p.reportContest(c)
}

// removeRest removes the fields that an answer to an apply has and that the
// plan wants absent.
func (p *pass) removeRest(c *planned, answer client.Object) error {
	if c.result.Err != nil || !slices.ContainsFunc(c.rules, func(r intent.Rule) bool { return r.Policy == apply.AbsentField }) {
		return nil //nolint:nilerr // the error is that of the child already
	}
	live, err := p.engine.encoder.Live(answer)
	if err != nil {
		return nil //nolint:nilerr // the next pass looks at it again
	}
	c.free()
	c.live, c.uid, c.fresh = answer, answer.GetUID(), true
	if c.noteUnwanted(live); !p.removes(c) {
		p.reportContest(c)
		return nil
	}
	c.action = actionRemove
	return p.remove(c)
}

// removals are the changes that a removal makes, besides those that are known.
func (c *planned) removals(known []apply.FieldChange) []apply.FieldChange {
	w := &changeWriter{child: c}
	for i := range c.unwanted {
		f := &c.unwanted[i]
		if !slices.ContainsFunc(known, func(k apply.FieldChange) bool { return k.Path == f.Text }) {
			w.line(f.Text, f.Value, content.Absent{})
		}
	}
	return w.changes
}
