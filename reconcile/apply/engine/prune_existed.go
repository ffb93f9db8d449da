package engine

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// replacedWithin is the maximum age difference for a planned member that is younger than the surplus members and still counts as older than
// the plan. It applies when this process does not know when the plan was first made.
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
// members shows which of them replace the surplus: they are younger than half of it. The other half may have been created again meanwhile.
func existedBefore(members []memberObject, planned int, restarted bool) int {
	var surplus []time.Time
	for i := range members {
		if !members[i].planned {
			surplus = append(surplus, members[i].created)
		}
	}
	if !restarted || len(surplus) == 0 {
		return len(surplus) + planned
	}
	slices.SortFunc(surplus, time.Time.Compare)
	median, newer := surplus[len(surplus)/2], 0
	for i := range members {
		if members[i].planned && members[i].created.After(median.Add(replacedWithin)) {
			newer++
		}
	}
	return len(surplus) + max(0, planned-newer)
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

// madeByAnother reports whether another process created a member after this process made its first plan: this process has never planned
// the member, and it did not exist then.
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
