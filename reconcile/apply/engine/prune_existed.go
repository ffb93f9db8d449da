package engine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
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

// noteSeen remembers the surplus of the first listing for a plan. These objects are older than the plan, independent of clock skew.
func (p *pruning) noteSeen(l *listing) {
	m := &p.memory.Prune
	if m.SincePass != p.memory.Pass {
		return
	}
	for i := range l.members {
		if !l.members[i].planned {
			if m.Seen == nil {
				m.Seen = map[types.UID]struct{}{}
			}
			m.Seen[l.members[i].uid] = struct{}{}
		}
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

// createdOnce reports whether the manager has created the object and never applied it, as it does for objects in the mode Once.
func createdOnce(entries []metav1.ManagedFieldsEntry, manager string) bool {
	created := false
	for i := range entries {
		if e := &entries[i]; e.Manager == manager && e.Subresource == "" {
			if e.Operation == metav1.ManagedFieldsOperationApply {
				return false
			}
			created = true
		}
	}
	return created
}
