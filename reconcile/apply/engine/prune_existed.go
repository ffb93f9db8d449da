package engine

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// replacedWithin is the maximum age difference for a planned member that is younger than the youngest surplus member and still counts as
// older than the plan. It applies when this process does not know when the plan was first made.
const replacedWithin = time.Minute

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

// existedBefore returns the number of members that existed before the plan: the surplus, and the planned members that existed when the
// plan was first made. Objects that the plan has just added do not reduce the share of a prune. After a restart, the age of the planned
// members shows which of them replace the surplus.
func existedBefore(members []memberObject, planned int, restarted bool) int {
	surplus, newer := 0, 0
	var youngest time.Time
	for i := range members {
		if !members[i].planned {
			surplus++
			if members[i].created.After(youngest) {
				youngest = members[i].created
			}
		}
	}
	for i := range members {
		if restarted && surplus > 0 && members[i].planned && members[i].created.After(youngest.Add(replacedWithin)) {
			newer++
		}
	}
	return surplus + max(0, planned-newer)
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

// madeByAnother reports whether another process created a member after this process made its plan: this process has not seen the member
// before, and it did not exist when the plan was made.
func madeByAnother(m memberObject, since time.Time, seen map[types.UID]struct{}) bool {
	_, old := seen[m.uid]
	return m.unknown && !old && m.created.After(since)
}

// keepNewer keeps objects that another process has created since. This process may have an older version of the plan, in the last seconds
// of its lease.
func (p *pruning) keepNewer(surplus []memberObject) []memberObject {
	m := &p.memory.Prune
	return p.hold(surplus, apply.ReasonNewer, func(o memberObject) bool { return madeByAnother(o, m.Since, m.Seen) })
}

// holdsData reports whether a member holds data or work.
func (p *pruning) holdsData(id applyset.ObjectID, o metav1.Object) bool {
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
