package baseline

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// Target is an object that others disturb.
type Target struct {
	GVK  schema.GroupVersionKind
	Key  types.NamespacedName
	Sent map[string]any // content of the operator's create or apply
	// Updated reports that the operator also updates the object in a run without faults.
	Updated bool
}

func (t Target) String() string { return objects.Name(t.GVK, t.Key) }

// Children returns the objects at the end of step A that the operator has created, except those that run once.
func (k *Known) Children() []Target {
	found := map[string]*Target{}
	for _, b := range k.Baselines {
		for _, c := range b.Calls {
			_, drawn := k.System.Names.Of(c.GVK.GroupKind(), c.Key)
			if c.Changed && c.After != nil && c.Request.Subresource == "" && c.After.GetGenerateName() == "" && drawn == "" {
				made(found, c, b == k.Baselines[0])
			}
		}
	}
	var out []Target
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if k.stays(name, found[name]) {
			out = append(out, *found[name])
		}
	}
	return out
}

// made records a write of a child; first is true for a write of the first run, which defines the content.
func made(found map[string]*Target, c transport.Call, first bool) {
	name := objects.Name(c.GVK, c.Key)
	t := found[name]
	switch {
	case t == nil && c.Before == nil:
		t = &Target{GVK: c.GVK, Key: c.Key}
		found[name] = t
	case t == nil:
		return
	case c.Before != nil:
		t.Updated = true
	}
	if first && c.Sent != nil && (c.Request.Verb == "apply" || c.Request.Verb == "create") {
		t.Sent = c.Sent
	}
}

// stays reports whether others can disturb a child in steady state: it is not an owner, does not run once, and has no finalizer.
func (k *Known) stays(name string, t *Target) bool {
	once := t.GVK.Group == "batch" && t.GVK.Kind == "Job" || t.GVK.Group == "" && t.GVK.Kind == "Pod"
	if once || k.Probe.OwnerKinds()[t.GVK.GroupKind()] || k.System.MayOutlive(name) {
		return false
	}
	items, err := k.Probe.List(t.GVK)
	return err == nil && items[t.Key] != nil && len(items[t.Key].GetFinalizers()) == 0
}

// Inputs returns the objects of System.Given that the operator reads and does not write.
func (k *Known) Inputs() []Target {
	written := map[string]bool{}
	for _, b := range k.Baselines {
		for _, c := range b.Calls {
			written[objects.Name(c.GVK, c.Key)] = written[objects.Name(c.GVK, c.Key)] || c.Changed
		}
	}
	var out []Target
	for _, given := range k.System.Given {
		obj := given.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
		gvk, err := k.Probe.Place(obj)
		if err != nil {
			continue
		}
		t := Target{GVK: gvk, Key: client.ObjectKeyFromObject(obj)}
		if !written[t.String()] && gvk.Kind != "Namespace" {
			out = append(out, t)
		}
	}
	return out
}
