package randomname

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Names are the forms of an operator's random names, as learned from runs of the same steps. It is safe for concurrent use; a nil Names
// is empty.
type Names struct {
	mu    sync.RWMutex
	forms []form
	fixed map[identity]bool // objects in both runs
}

// identity identifies one object.
type identity struct {
	kind schema.GroupKind
	key  types.NamespacedName
}

// Object is the relevant part of an object of a run.
type Object struct {
	Kind schema.GroupKind
	Key  types.NamespacedName
	// Owners are the objects in its owner references.
	Owners []Owner
	// Shape is a property that corresponding objects of two runs share.
	Shape string
}

// Owner is an owner of an object.
type Owner struct{ Kind, Name string }

// Differ reports whether two runs of the same steps have objects with possibly random names: equally many, with different names.
func Differ(one, other []Object) bool {
	there := map[identity]bool{}
	for _, o := range one {
		there[identity{o.Kind, o.Key}] = true
	}
	return len(one) == len(other) && slices.ContainsFunc(other, func(o Object) bool { return !there[identity{o.Kind, o.Key}] })
}

// Learn learns the forms of names that differ in three runs of the same steps. Objects of one kind with equivalent owners and the same
// shape correspond, if all runs have equally many and their names are distinct: repeated names are a choice among a few. It reports
// whether it has learned anything.
func (n *Names) Learn(one, other, third []Object) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fixed == nil {
		n.fixed = map[identity]bool{}
	}
	runs := map[identity]int{}
	names := map[string]bool{} // repeated names, of any kind
	for _, o := range slices.Concat(one, other, third) {
		id := identity{o.Kind, o.Key}
		if runs[id]++; runs[id] > 1 {
			n.fixed[id], names[o.Key.Name] = true, true
		}
	}
	first, second, last := n.alike(one, names), n.alike(other, names), n.alike(third, names)
	before := len(n.forms)
	for like, these := range first {
		if those := second[like]; len(those) == len(these) && len(last[like]) == len(these) {
			n.pair(like.kind, these, those)
		}
	}
	return len(n.forms) > before
}

// likeness is the common property of corresponding objects.
type likeness struct {
	kind              schema.GroupKind
	namespace, owners string
	shape             string
}

// alike returns the names that only one run has.
func (n *Names) alike(objects []Object, both map[string]bool) map[likeness][]string {
	out := map[likeness][]string{}
	for _, o := range objects {
		if n.fixed[identity{o.Kind, o.Key}] {
			continue
		}
		var owners []string
		for _, owner := range o.Owners {
			if !both[owner.Name] {
				owner.Name = "*" // it is random itself
			}
			owners = append(owners, owner.Kind+" "+owner.Name)
		}
		slices.Sort(owners)
		like := likeness{o.Kind, o.Key.Namespace, strings.Join(owners, ","), o.Shape}
		out[like] = append(out[like], o.Key.Name)
	}
	return out
}

// pair learns the forms of names: each gets the form with the smallest random part.
func (n *Names) pair(kind schema.GroupKind, these, those []string) {
	for _, name := range these {
		var best *form
		for _, other := range those {
			if f, drawn := formOf(kind, name, other); drawn && (best == nil || f.given() > best.given()) {
				best = &f
			}
		}
		if best != nil && !slices.ContainsFunc(n.forms, best.equal) {
			n.forms = append(n.forms, *best)
		}
	}
}

// Of returns the canonical name of an object and the random part of its name. The random part is empty if the name is not random.
func (n *Names) Of(kind schema.GroupKind, key types.NamespacedName) (name, drawn string) {
	if n == nil {
		return key.Name, ""
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if len(n.forms) == 0 || n.fixed[identity{kind, key}] {
		return key.Name, ""
	}
	var best *form
	for i := range n.forms {
		if f := &n.forms[i]; f.kind == kind && f.matches(key.Name) && (best == nil || f.given() > best.given()) {
			best = f
		}
	}
	if best == nil {
		return key.Name, ""
	}
	return best.prefix + "*" + best.suffix, best.random(key.Name)
}
