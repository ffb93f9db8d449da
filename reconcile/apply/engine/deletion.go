package engine

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
)

// deletion is one planned deletion during a pass.
type deletion struct {
	// holdsOwner reports that the object cannot be gone before the owner.
	holdsOwner bool
	*apply.Deletion
	kind *intent.Kind
	id   applyset.ObjectID
	// version is the resourceVersion precondition, empty for none.
	version string
	// finalizers are the finalizers of an object that is already being deleted.
	finalizers []string
	// ordered reports that the deletion comes after children, so that it is carried out with them.
	ordered bool
	result  apply.ObjectResult
}

const (
	errApplyAndDelete = intent.PlanError("deletion: the plan has the object as a child, too")
	errNoUID          = intent.PlanError("deletion: ControlledByAnother has no UID, want that of the object that was read")
	errNoName         = intent.PlanError("deletion: metadata.name is empty, want the name of the object that must not exist")
)

// maxDeletionTries is the maximum number of reads in one pass of an object that keeps changing.
const maxDeletionTries = 4

// decideDeletions decides the planned deletions, dependents first.
func decideDeletions(p *pass) {
	if p.orphans() {
		return
	}
	for i := range p.plan.Deletes {
		d := &deletion{Deletion: &p.plan.Deletes[i]}
		d.decide(p)
		p.deletions = append(p.deletions, d)
	}
	slices.SortStableFunc(p.deletions, func(a, b *deletion) int { return b.rank() - a.rank() })
}

// decide decides the deletion. Its result has the error.
func (d *deletion) decide(p *pass) {
	d.result.Verb, d.result.Outcome = apply.VerbNone, apply.OutcomeUnchanged
	if err := decideDeletion(p, d); err != nil {
		d.result.Verb, d.result.Outcome, d.result.Err = apply.VerbNone, apply.OutcomeFailed, err
	}
}

func decideDeletion(p *pass, d *deletion) error {
	k, err := p.env.kinds.Of(&apply.Child{Object: d.Object})
	if err != nil {
		d.result.Reason = apply.ReasonInvalid
		return err
	}
	key := client.ObjectKeyFromObject(d.Object)
	if k.Namespaced && key.Namespace == "" {
		key.Namespace = p.owner.GetNamespace()
	}
	if key.Name == "" {
		d.result.Reason = apply.ReasonInvalid
		return errNoName
	}
	d.result.Announcement = d.Announcement
	d.kind, d.id = k, applyset.ObjectID{GroupKind: k.GVK.GroupKind(), Key: key}
	d.holdsOwner = p.holdsOwner(d.id)
	d.result.GVK, d.result.Key, d.result.HoldsData = k.GVK, key, p.env.holdsData(d.id.GroupKind)
	if d.ControlledByAnother != nil && *d.ControlledByAnother == "" {
		d.result.Reason = apply.ReasonInvalid
		return errNoUID
	}
	if m := p.memory.Children[d.id]; m != nil && m.InPass(p.memory.Pass) && !m.Deleting() && !d.ordered {
		d.result.Reason = apply.ReasonInvalid
		return errApplyAndDelete
	}
	o := k.NewObject()
	defer k.Release(o)
	if err := p.env.client.Get(p.ctx, key, o, p.env.cached...); err != nil {
		d.result.Reason = apply.ReasonMissing
		if !apierrors.IsNotFound(err) {
			d.result.Reason = apply.ReasonReadFailed
		}
		return client.IgnoreNotFound(err)
	}
	return decideExistingDeletion(p, d, o)
}

// decideExistingDeletion decides whether the existing object is the one that the plan identifies and whether this owner may delete it.
func decideExistingDeletion(p *pass, d *deletion, o client.Object) error {
	uid := o.GetUID()
	if !labels.SelectorFromSet(d.Labels).Matches(labels.Set(o.GetLabels())) {
		d.result.Reason = apply.ReasonNoMatch // it belongs to another owner
		return nil
	}
	d.result.UID = uid
	if want := d.Object.GetUID(); want != "" && want != uid || d.ControlledByAnother != nil && *d.ControlledByAnother != uid {
		d.result.Reason, d.result.UID = apply.ReasonNoMatch, "" // the planned object is gone
		return nil
	}
	if may, err := mayDelete(p, d, o); err != nil || !may {
		return err
	}
	if p.optedOut(o) {
		d.result.Outcome, d.result.Reason, d.result.UID = apply.OutcomeOptedOut, apply.ReasonOptedOut, ""
		return nil
	}
	if o.GetDeletionTimestamp() != nil || p.deletedAlready(d.id, uid) {
		d.result.Reason, d.result.RequeueAfter = apply.ReasonTerminating, confirmAfter
		d.result.Finalizers = p.heldBy(o)
		d.finalizers = slices.Clone(o.GetFinalizers())
		p.requeue(confirmAfter)
		return nil
	}
	if d.version = preconditionVersion(p, d, o); d.MatchResourceVersion && d.Object.GetResourceVersion() != "" {
		d.version = d.Object.GetResourceVersion()
	}
	d.result.Verb, d.result.Reason = apply.VerbDelete, apply.ReasonPlanned
	return nil
}

// preconditionVersion returns the version in which the object was found to match the plan. The owner matches in every version.
func preconditionVersion(p *pass, d *deletion, o client.Object) string {
	if o.GetUID() == p.owner.GetUID() && !d.MatchResourceVersion {
		return ""
	}
	return o.GetResourceVersion()
}

// mayDelete reports whether the plan may delete the object: the owner itself, a child of the owner, an object that the plan identifies in
// another way and that no other controller owns, or one that the plan deletes whichever controller owns it.
func mayDelete(p *pass, d *deletion, o client.Object) (bool, error) {
	if o.GetUID() == p.owner.GetUID() || d.ControlledByAnother != nil {
		return true, nil
	}
	refused := &apply.OwnedByAnotherError{Kind: d.id.GroupKind.Kind, Namespace: d.id.Key.Namespace, Name: d.id.Key.Name, Deletion: true}
	controller := metav1.GetControllerOfNoCopy(o)
	switch {
	case controller != nil && controller.UID != p.owner.GetUID() && !p.grantedControllerTo(o, controller.UID):
		copied := *controller
		refused.Controller = &copied
	case d.Object.GetUID() != "" || len(d.Labels) > 0 || d.Uncontrolled:
		return true, nil
	default:
		may, err := mayDeleteUnnamed(p, d, o, controller)
		if may || err != nil {
			return may, err
		}
	}
	d.result.Reason = apply.ReasonNotOwned
	return false, refused
}

// mayDeleteUnnamed reports whether an object that the plan identifies only by name is a child of the owner.
func mayDeleteUnnamed(p *pass, d *deletion, o client.Object, controller *metav1.OwnerReference) (bool, error) {
	var remembered types.UID
	if m := p.memory.Children[d.id]; m != nil {
		remembered = m.Ours()
	}
	ours := func(o metav1.Object) bool {
		if controller != nil {
			return !p.labelledByAnother(o)
		}
		return p.labelledByUs(o) || remembered == o.GetUID()
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

// carryOutDeletions carries out the planned deletions that come after no child.
func carryOutDeletions(p *pass) {
	for _, d := range p.deletions {
		if d.result.Verb == apply.VerbDelete && !d.ordered {
			carryOutDeletion(p, d)
		}
		p.result.Objects = append(p.result.Objects, d.result)
	}
}

func carryOutDeletion(p *pass, d *deletion) {
	uid := d.result.UID
	err := p.env.deleteExactly(p.ctx, d.kind.GVK, d.id.Key, uid, d.version, d.Propagation)
	for range maxDeletionTries {
		if !apierrors.IsConflict(err) || d.MatchResourceVersion {
			break
		}
		found, readErr := p.liveMetadata(d.kind.GVK, d.id.Key)
		switch {
		case readErr != nil || found == nil:
			err = readErr
		case found.UID != uid:
			d.result.Outcome, d.result.Err = apply.OutcomeFailed, errReplaced
			return
		case !decideDeletionAgain(p, d, found):
			return
		default:
			err = p.env.deleteExactly(p.ctx, d.kind.GVK, d.id.Key, uid, d.version, d.Propagation)
		}
	}
	switch {
	case apierrors.IsConflict(err):
		d.result.Outcome, d.result.Err = apply.OutcomeFailed, fmt.Errorf("it has changed since it was read: %w", err)
	case err != nil:
		d.result.Outcome, d.result.Err = apply.OutcomeFailed, err
	default:
		d.result.Outcome = apply.OutcomeDeleted
		p.noteDeleted(d.id, d.result.UID)
	}
}

// decideDeletionAgain decides the deletion again for an object that differs from the cached one, and reports whether it is still to be
// deleted.
func decideDeletionAgain(p *pass, d *deletion, found client.Object) bool {
	d.result.Verb, d.result.Outcome = apply.VerbNone, apply.OutcomeUnchanged
	if err := decideExistingDeletion(p, d, found); err != nil {
		d.result.Outcome, d.result.Err = apply.OutcomeFailed, err
	}
	return d.result.Verb == apply.VerbDelete
}

// rank orders deletions by kind; unknown kinds are last.
func (d *deletion) rank() int {
	if d.kind == nil {
		return 0
	}
	return d.kind.Rank
}

// noteDeleted remembers an accepted deletion, for stale caches.
func (p *pass) noteDeleted(id applyset.ObjectID, uid types.UID) {
	m := p.memory.Child(id)
	m.NoteDeleted(uid, p.now)
	m.ForgetProof()
	m.DeletedIn(p.memory.Pass)
}

// deletedAlready reports whether the deletion of this object was accepted recently.
func (p *pass) deletedAlready(id applyset.ObjectID, uid types.UID) bool {
	m := p.memory.Children[id]
	if m == nil || !m.WasDeleted(uid) {
		return false
	}
	m.DeletedIn(p.memory.Pass)
	return m.DeletedRecently(uid, p.now, p.env.options.LagDeadline)
}
