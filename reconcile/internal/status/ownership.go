package status

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// subresource is the name of the status subresource in managedFields and in the API.
const subresource = "status"

// owned is the part of a status field that one party owns.
type owned struct {
	member bool
	below  *fieldpath.Set // nil for nothing
}

func (o owned) any() bool { return o.member || (o.below != nil && !o.below.Empty()) }

func (o owned) at(e fieldpath.PathElement) owned {
	if o.below == nil {
		return owned{}
	}
	below, _ := o.below.Children.Get(e)
	return owned{member: o.below.Members.Has(e), below: below}
}

// first returns the first direct child name or list item that matches.
func (o owned) first(matches func(fieldpath.PathElement) bool) (found fieldpath.PathElement, ok bool) {
	if o.below == nil {
		return found, false
	}
	o.below.Iterate(func(p fieldpath.Path) {
		if !ok && len(p) > 0 && matches(p[0]) {
			found, ok = p[0], true
		}
	})
	return found, ok
}

// place is the ownership of one field of the status.
type place struct {
	applied owned // by this writer, with server-side apply
	former  owned // by updates of this writer, and by former managers
	others  owned // by other managers
}

func (p place) at(e fieldpath.PathElement) place {
	return place{applied: p.applied.at(e), former: p.former.at(e), others: p.others.at(e)}
}

func (p place) field(name string) place { return p.at(fieldpath.PathElement{FieldName: &name}) }

func (p place) parties() []owned { return []owned{p.applied, p.former, p.others} }

// granular reports whether the fields of a map have separate owners.
func (p place) granular() bool {
	return slices.ContainsFunc(p.parties(), func(o owned) bool {
		_, found := o.first(func(e fieldpath.PathElement) bool { return e.FieldName != nil })
		return found
	})
}

// keys returns the fields that identify an item of a map list; nil if the field is not a map list, or no item has an owner.
func (p place) keys() []string {
	for _, o := range p.parties() {
		item, found := o.first(func(e fieldpath.PathElement) bool { return e.Key != nil })
		if !found {
			continue
		}
		var names []string
		for _, field := range *item.Key {
			names = append(names, field.Name)
		}
		return names
	}
	return nil
}

// ownership is the ownership of the status fields by the object's managedFields.
type ownership struct {
	root place
	// hidden reports that other managers own fields, but the cache does not show which.
	hidden bool
}

func (w *Writer) ownership(entries []metav1.ManagedFieldsEntry) ownership {
	var o ownership
	for i := range entries {
		e := &entries[i]
		party := w.party(&o, e)
		if e.FieldsV1 == nil {
			o.hidden = o.hidden || (party == &o.root.others && e.Subresource == subresource)
			continue
		}
		set := fieldpath.NewSet()
		if err := set.FromJSON(e.FieldsV1.GetRawReader()); err != nil {
			continue
		}
		name := subresource
		found := owned{below: set}.at(fieldpath.PathElement{FieldName: &name})
		if found.below == nil {
			continue
		}
		if party.below == nil {
			party.below = found.below
		} else {
			party.below = party.below.Union(found.below)
		}
	}
	return o
}

// party returns the owner of a managedFields entry.
func (w *Writer) party(o *ownership, e *metav1.ManagedFieldsEntry) *owned {
	switch {
	case slices.Contains(w.opts.FormerManagers, e.Manager):
		return &o.root.former
	case e.Manager != w.opts.FieldManager:
		return &o.root.others
	case e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == subresource:
		return &o.root.applied
	}
	return &o.root.former
}
