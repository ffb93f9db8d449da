package engine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// existing returns the number of planned members that exist.
func (p *pruning) existing() int {
	n := 0
	for _, c := range p.children {
		if c.memory != nil && c.member && (c.live != nil || c.memory.UID() != "") {
			n++
		}
	}
	return n
}

// noteSeen remembers the surplus that this process may delete: the objects that existed when it made its first plan, independent of clock
// skew, and those that were in a plan of it. It forgets objects that no complete listing has.
func (p *pruning) noteSeen(l *listing) {
	m := &p.memory.Prune
	first, before := m.FirstPass == p.memory.Pass, m.Seen
	if len(l.failed) == 0 && !l.more && len(l.absent) == 0 {
		m.Seen = nil
	}
	for i := range l.members {
		o := &l.members[i]
		if _, seen := before[o.uid]; o.planned || (o.unknown && !first && !seen) {
			continue
		}
		if m.Seen == nil {
			m.Seen = map[types.UID]struct{}{}
		}
		m.Seen[o.uid] = struct{}{}
	}
}

// memberHoldsData reports whether a member holds data or work.
func (p *pruning) memberHoldsData(id applyset.ObjectID, o metav1.Object) bool {
	if p.env.holdsData(id.GroupKind) {
		return true
	}
	switch id.GroupKind {
	case schema.GroupKind{Group: "apps", Kind: "StatefulSet"}:
		full, ok := o.(client.Object)
		if _, metadata := o.(*metav1.PartialObjectMetadata); !ok || metadata {
			return true // its children are unknown
		}
		content, err := p.env.encoder.Live(full)
		return err != nil || ownsClaims(content)
	case secrets:
		known := p.memory.Children[id]
		return known != nil && known.SentOnce() || createdOnce(o.GetManagedFields(), p.env.options.FieldManager)
	}
	return false
}

// ownsClaims reports whether a StatefulSet creates PersistentVolumeClaims.
func ownsClaims(content map[string]any) bool {
	templates, _, err := unstructured.NestedSlice(content, "spec", "volumeClaimTemplates")
	return err != nil || len(templates) > 0
}

// createdOnce reports whether the manager has created the object and never applied its content, as it does for objects in the mode Once. An
// object that was adopted from a backup has only its marks from the manager, and the content from another one.
func createdOnce(entries []metav1.ManagedFieldsEntry, manager string) bool {
	created, adopted, filled := false, false, false
	for i := range entries {
		e := &entries[i]
		fields, err := fieldset.RawFields(e)
		_, marks := fields["f:metadata"]
		switch {
		case e.Manager != manager || e.Subresource != "":
			_, data := fields["f:data"]
			filled = filled || data || err != nil || e.FieldsV1 == nil
		case e.Operation != metav1.ManagedFieldsOperationApply:
			created = true
		case err == nil && marks && len(fields) == 1:
			adopted = true
		default:
			return false
		}
	}
	return created || (adopted && filled)
}
