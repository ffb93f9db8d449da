package search

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// target is an object that others disturb.
type target struct {
	gvk  schema.GroupVersionKind
	key  types.NamespacedName
	sent map[string]any // what the operator has created or applied
	// updated reports that the operator also updates the object, in some run without faults.
	updated bool
}

func (t target) String() string { return objects.Name(t.gvk, t.key) }

// children are the objects at the end of step A that the operator has made, without those that run once.
func (e *explorer) children() []target {
	found := map[string]*target{}
	for _, b := range e.plots {
		for _, c := range b.calls {
			if c.Changed && c.After != nil && c.Request.Subresource == "" && c.After.GetGenerateName() == "" {
				made(found, c, b == e.plots[0])
			}
		}
	}
	var out []target
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if e.stays(name, found[name]) {
			out = append(out, *found[name])
		}
	}
	return out
}

// made notes a write of a child; first is for one in the first run, whose contents it has to have.
func made(found map[string]*target, c transport.Call, first bool) {
	name := objects.Name(c.GVK, c.Key)
	t := found[name]
	switch {
	case t == nil && c.Before == nil:
		t = &target{gvk: c.GVK, key: c.Key}
		found[name] = t
	case t == nil:
		return
	case c.Before != nil:
		t.updated = true
	}
	if first && c.Sent != nil && (c.Request.Verb == "apply" || c.Request.Verb == "create") {
		t.sent = c.Sent
	}
}

// stays reports whether a child is there at rest, for others to disturb: it is no owner, does not run once, and nothing holds it.
func (e *explorer) stays(name string, t *target) bool {
	once := t.gvk.Group == "batch" && t.gvk.Kind == "Job" || t.gvk.Group == "" && t.gvk.Kind == "Pod"
	if once || e.probe.OwnerKinds()[t.gvk.GroupKind()] || e.outlives(name) {
		return false
	}
	items, err := e.probe.List(t.gvk)
	return err == nil && items[t.key] != nil && len(items[t.key].GetFinalizers()) == 0
}

// inputs are the objects of System.Given that the operator reads and does not write.
func (e *explorer) inputs() []target {
	written := map[string]bool{}
	for _, b := range e.plots {
		for _, c := range b.calls {
			written[objects.Name(c.GVK, c.Key)] = written[objects.Name(c.GVK, c.Key)] || c.Changed
		}
	}
	var out []target
	for _, given := range e.system.Given {
		obj := given.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
		gvk, err := e.probe.Place(obj)
		if err != nil {
			continue
		}
		t := target{gvk: gvk, key: client.ObjectKeyFromObject(obj)}
		if !written[t.String()] && gvk.Kind != "Namespace" {
			out = append(out, t)
		}
	}
	return out
}
