package drawn

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Names are the forms of the names that an operator draws, as far as two runs of the same story have shown them. It is safe for
// concurrent use; a nil Names knows none.
type Names struct {
	mu    sync.RWMutex
	forms []form
	fixed map[identity]bool // what two runs have in common
}

// identity is one object.
type identity struct {
	kind schema.GroupKind
	key  types.NamespacedName
}

// Object is what is looked at of an object of a run.
type Object struct {
	Kind schema.GroupKind
	Key  types.NamespacedName
	// Owners are the objects that it refers to as its owners.
	Owners []Owner
	// Shape is what objects that stand for each other in two runs have in common beside that.
	Shape string
}

// Owner is an owner of an object.
type Owner struct{ Kind, Name string }

// Differ reports whether two runs of the same story have objects whose names may have been drawn: as many, of other names.
func Differ(one, other []Object) bool {
	there := map[identity]bool{}
	for _, o := range one {
		there[identity{o.Kind, o.Key}] = true
	}
	return len(one) == len(other) && slices.ContainsFunc(other, func(o Object) bool { return !there[identity{o.Kind, o.Key}] })
}

// Learn takes up how the names of objects differ in three runs of the same story. Those of one kind that have like owners and the same shape stand
// for each other, if all runs have as many, and none of their names comes again: who takes one of a few is another matter. It reports whether it
// has learned anything.
func (n *Names) Learn(one, other, third []Object) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fixed == nil {
		n.fixed = map[identity]bool{}
	}
	runs := map[identity]int{}
	names := map[string]bool{} // that come again, whatever the kind
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

// likeness is what objects have in common that stand for each other.
type likeness struct {
	kind              schema.GroupKind
	namespace, owners string
	shape             string
}

// alike are the names that are in one run alone.
func (n *Names) alike(objects []Object, both map[string]bool) map[likeness][]string {
	out := map[likeness][]string{}
	for _, o := range objects {
		if n.fixed[identity{o.Kind, o.Key}] {
			continue
		}
		var owners []string
		for _, owner := range o.Owners {
			if !both[owner.Name] {
				owner.Name = "*" // it was drawn itself
			}
			owners = append(owners, owner.Kind+" "+owner.Name)
		}
		slices.Sort(owners)
		like := likeness{o.Kind, o.Key.Namespace, strings.Join(owners, ","), o.Shape}
		out[like] = append(out[like], o.Key.Name)
	}
	return out
}

// pair takes up the forms of names: each has the form that leaves least of it to chance.
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

// Of returns what stands for the name of an object, and what of it was drawn; nothing was when the name stands for itself.
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
	return best.prefix + "*" + best.suffix, best.drawn(key.Name)
}
