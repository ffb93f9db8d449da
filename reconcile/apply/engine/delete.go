package engine

import (
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/kinds"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/planerror"
)

// confirmAfter is when a pass looks again for an object that is being deleted,
// in case no watch announces that it is gone.
const confirmAfter = 5 * time.Second

const errApplyAndDelete = planerror.Error("deletion: the plan has the object as a child, too")

// plannedDeletion is one deletion of the plan during a pass.
type plannedDeletion struct {
	*apply.Deletion
	kind *kinds.Kind
	id   applyset.ObjectID
	// version is the precondition besides the UID, empty for none.
	version string
	result  apply.ObjectResult
}

// decideDeletions decides on the planned deletions, dependents first.
func (p *pass) decideDeletions() {
	if p.orphans() {
		return
	}
	for i := range p.plan.Deletes {
		d := &plannedDeletion{Deletion: &p.plan.Deletes[i]}
		d.result.Verb, d.result.Outcome = apply.VerbNone, apply.Unchanged
		if err := p.decideDeletion(d); err != nil {
			d.result.Verb, d.result.Outcome, d.result.Err = apply.VerbNone, apply.Failed, err
		}
		p.deletions = append(p.deletions, d)
	}
	slices.SortStableFunc(p.deletions, func(a, b *plannedDeletion) int { return b.rank() - a.rank() })
}

func (d *plannedDeletion) rank() int {
	if d.kind == nil {
		return 0
	}
	return d.kind.Rank
}

func (p *pass) decideDeletion(d *plannedDeletion) error {
	k, err := p.engine.kinds.Of(&apply.Child{Object: d.Object})
	if err != nil {
		d.result.Reason = apply.ReasonInvalid
		return err
	}
	key := client.ObjectKeyFromObject(d.Object)
	if k.Namespaced && key.Namespace == "" {
		key.Namespace = p.owner.GetNamespace()
	}
	d.kind, d.id = k, applyset.ObjectID{GroupKind: k.GVK.GroupKind(), Key: key}
	d.result.GVK, d.result.Key, d.result.HoldsData = k.GVK, key, p.engine.holdsData(d.id.GroupKind)
	if m := p.memory.Children[d.id]; m != nil && m.Pass == p.memory.Pass && m.Deleted == "" {
		d.result.Reason = apply.ReasonInvalid
		return errApplyAndDelete
	}
	o := k.NewObject()
	defer k.Release(o)
	if err := p.engine.client.Get(p.ctx, key, o, p.engine.cached...); err != nil {
		d.result.Reason = apply.ReasonMissing
		if !apierrors.IsNotFound(err) {
			d.result.Reason = apply.ReasonReadFailed
		}
		return client.IgnoreNotFound(err)
	}
	return p.decideExistingDeletion(d, o)
}

// decideExistingDeletion decides whether the object that exists is the one
// that the plan means, and this owner's to delete.
func (p *pass) decideExistingDeletion(d *plannedDeletion, o client.Object) error {
	uid := o.GetUID()
	if !labels.SelectorFromSet(d.Labels).Matches(labels.Set(o.GetLabels())) {
		d.result.Reason = apply.ReasonNoMatch // somebody else's
		return nil
	}
	d.result.UID = uid
	if want := d.Object.GetUID(); want != "" && want != uid {
		d.result.Reason, d.result.UID = apply.ReasonNoMatch, "" // the one that the plan meant is gone
		return nil
	}
	if may, err := p.mayDelete(d, o); err != nil || !may {
		return err
	}
	if p.engine.optedOut(o) {
		d.result.Outcome, d.result.Reason, d.result.UID = apply.OptedOut, apply.ReasonOptedOut, ""
		return nil
	}
	if o.GetDeletionTimestamp() != nil || p.deletedAlready(d.id, uid) {
		d.result.Reason, d.result.RequeueAfter = apply.ReasonTerminating, confirmAfter
		p.requeue(confirmAfter)
		return nil
	}
	if d.MatchResourceVersion {
		if d.version = d.Object.GetResourceVersion(); d.version == "" {
			d.version = o.GetResourceVersion()
		}
	}
	d.result.Verb, d.result.Reason = apply.VerbDelete, apply.ReasonPlanned
	return nil
}

// mayDelete reports whether the plan may delete the object: the owner itself,
// a child of the owner, and what the plan identifies in another way, as long as
// no other controller has it.
func (p *pass) mayDelete(d *plannedDeletion, o client.Object) (bool, error) {
	if o.GetUID() == p.owner.GetUID() {
		return true, nil
	}
	refused := &apply.OwnedByAnotherError{Kind: d.id.GroupKind.Kind, Namespace: d.id.Key.Namespace, Name: d.id.Key.Name}
	controller := metav1.GetControllerOfNoCopy(o)
	switch {
	case controller != nil && controller.UID != p.owner.GetUID() && !p.gave(o, controller.UID):
		copied := *controller
		refused.Controller = &copied
	case d.Object.GetUID() != "" || len(d.Labels) > 0 || d.Uncontrolled:
		return true, nil
	default:
		may, err := p.mayDeleteUnnamed(d, o, controller)
		if may || err != nil {
			return may, err
		}
	}
	d.result.Reason = apply.ReasonNotOwned
	return false, refused
}

// mayDeleteUnnamed reports whether an object that the plan knows by its name
// alone is a child of the owner.
func (p *pass) mayDeleteUnnamed(d *plannedDeletion, o client.Object, controller *metav1.OwnerReference) (bool, error) {
	var remembered types.UID
	if m := p.memory.Children[d.id]; m != nil {
		remembered = m.Ours
	}
	ours := func(o metav1.Object) bool {
		if controller != nil {
			return !p.labelledByAnother(o)
		}
		return p.labels(o) || remembered == o.GetUID()
	}
	if ours(o) || len(o.GetManagedFields()) > 0 {
		return ours(o), nil
	}
	found, err := p.liveMetadata(d.kind.GVK, d.id.Key)
	if err != nil || found == nil || found.UID != o.GetUID() {
		d.result.Reason = apply.ReasonReadFailed
		return false, err
	}
	return ours(found), nil
}

// deletePlanned carries out the planned deletions.
func (p *pass) deletePlanned() {
	for _, d := range p.deletions {
		if d.result.Verb == apply.VerbDelete {
			p.deleteOne(d)
		}
		p.result.Objects = append(p.result.Objects, d.result)
	}
}

func (p *pass) deleteOne(d *plannedDeletion) {
	err := p.engine.deleteExactly(p.ctx, d.kind.GVK, d.id.Key, d.result.UID, d.version, d.Propagation)
	switch {
	case apierrors.IsConflict(err):
		d.result.Outcome, d.result.Err = apply.Failed, fmt.Errorf("it has changed since it was read: %w", err)
	case err != nil:
		d.result.Outcome, d.result.Err = apply.Failed, err
	default:
		d.result.Outcome = apply.Deleted
		p.noteDeleted(d.id, d.result.UID)
	}
}

// noteDeleted remembers an accepted deletion, for caches that lag.
func (p *pass) noteDeleted(id applyset.ObjectID, uid types.UID) {
	m := p.memory.Child(id)
	m.NoteDeleted(uid, p.now)
	m.Proven, m.Pass = false, p.memory.Pass
}

// deletedAlready reports whether this object's deletion was accepted a moment
// ago.
func (p *pass) deletedAlready(id applyset.ObjectID, uid types.UID) bool {
	m := p.memory.Children[id]
	if m == nil || m.Deleted != uid {
		return false
	}
	m.Pass = p.memory.Pass
	return m.DeletedRecently(uid, p.now, p.engine.opts.LagDeadline)
}
