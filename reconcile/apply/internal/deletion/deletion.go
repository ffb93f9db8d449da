package deletion

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
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

const (
	errApplyAndDelete = intent.PlanError("deletion: the plan has the object as a child, too")
	errNoName         = intent.PlanError("deletion: metadata.name is empty, want the name of the object that must not exist")
)

// maxTries bounds the looks of one pass at an object that keeps changing.
const maxTries = 4

// Decide decides on the planned deletions, dependents first.
func Decide(p *pass.Pass) {
	if p.Orphans() {
		return
	}
	for i := range p.Plan.Deletes {
		d := &pass.Deletion{Deletion: &p.Plan.Deletes[i]}
		d.Result.Verb, d.Result.Outcome = apply.VerbNone, apply.OutcomeUnchanged
		if err := decideDeletion(p, d); err != nil {
			d.Result.Verb, d.Result.Outcome, d.Result.Err = apply.VerbNone, apply.OutcomeFailed, err
		}
		p.Deletions = append(p.Deletions, d)
	}
	slices.SortStableFunc(p.Deletions, func(a, b *pass.Deletion) int { return b.Rank() - a.Rank() })
}

func decideDeletion(p *pass.Pass, d *pass.Deletion) error {
	k, err := p.Env.Kinds.Of(&apply.Child{Object: d.Object})
	if err != nil {
		d.Result.Reason = apply.ReasonInvalid
		return err
	}
	key := client.ObjectKeyFromObject(d.Object)
	if k.Namespaced && key.Namespace == "" {
		key.Namespace = p.Owner.GetNamespace()
	}
	if key.Name == "" {
		d.Result.Reason = apply.ReasonInvalid
		return errNoName
	}
	d.Result.Announcement = d.Announcement
	d.Kind, d.ID = k, applyset.ObjectID{GroupKind: k.GVK.GroupKind(), Key: key}
	d.Result.GVK, d.Result.Key, d.Result.HoldsData = k.GVK, key, p.Env.HoldsData(d.ID.GroupKind)
	if m := p.Memory.Children[d.ID]; m != nil && m.InPass(p.Memory.Pass) && !m.Deleting() {
		d.Result.Reason = apply.ReasonInvalid
		return errApplyAndDelete
	}
	o := k.NewObject()
	defer k.Release(o)
	if err := p.Env.Client.Get(p.Ctx, key, o, p.Env.Cached...); err != nil {
		d.Result.Reason = apply.ReasonMissing
		if !apierrors.IsNotFound(err) {
			d.Result.Reason = apply.ReasonReadFailed
		}
		return client.IgnoreNotFound(err)
	}
	return decideExistingDeletion(p, d, o)
}

// decideExistingDeletion decides whether the object that exists is the one
// that the plan means, and this owner's to delete.
func decideExistingDeletion(p *pass.Pass, d *pass.Deletion, o client.Object) error {
	uid := o.GetUID()
	if !labels.SelectorFromSet(d.Labels).Matches(labels.Set(o.GetLabels())) {
		d.Result.Reason = apply.ReasonNoMatch // somebody else's
		return nil
	}
	d.Result.UID = uid
	if want := d.Object.GetUID(); want != "" && want != uid {
		d.Result.Reason, d.Result.UID = apply.ReasonNoMatch, "" // the one that the plan meant is gone
		return nil
	}
	if may, err := mayDelete(p, d, o); err != nil || !may {
		return err
	}
	if ownership.OptedOut(p, o) {
		d.Result.Outcome, d.Result.Reason, d.Result.UID = apply.OutcomeOptedOut, apply.ReasonOptedOut, ""
		return nil
	}
	if o.GetDeletionTimestamp() != nil || p.DeletedAlready(d.ID, uid) {
		d.Result.Reason, d.Result.RequeueAfter = apply.ReasonTerminating, pass.ConfirmAfter
		d.Result.Finalizers = p.HeldBy(o)
		d.Finalizers = slices.Clone(o.GetFinalizers())
		p.Requeue(pass.ConfirmAfter)
		return nil
	}
	if d.Version = version(p, d, o); d.MatchResourceVersion && d.Object.GetResourceVersion() != "" {
		d.Version = d.Object.GetResourceVersion()
	}
	d.Result.Verb, d.Result.Reason = apply.VerbDelete, apply.ReasonPlanned
	return nil
}

// version is the one in which the object was found to be the plan's to delete. The
// owner is, in each.
func version(p *pass.Pass, d *pass.Deletion, o client.Object) string {
	if o.GetUID() == p.Owner.GetUID() && !d.MatchResourceVersion {
		return ""
	}
	return o.GetResourceVersion()
}

// mayDelete reports whether the plan may delete the object: the owner itself,
// a child of the owner, and what the plan identifies in another way, as long as
// no other controller has it.
func mayDelete(p *pass.Pass, d *pass.Deletion, o client.Object) (bool, error) {
	if o.GetUID() == p.Owner.GetUID() {
		return true, nil
	}
	refused := &apply.OwnedByAnotherError{Kind: d.ID.GroupKind.Kind, Namespace: d.ID.Key.Namespace, Name: d.ID.Key.Name}
	controller := metav1.GetControllerOfNoCopy(o)
	switch {
	case controller != nil && controller.UID != p.Owner.GetUID() && !ownership.GrantedControllerTo(p, o, controller.UID):
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
	d.Result.Reason = apply.ReasonNotOwned
	return false, refused
}

// mayDeleteUnnamed reports whether an object that the plan knows by its name
// alone is a child of the owner.
func mayDeleteUnnamed(p *pass.Pass, d *pass.Deletion, o client.Object, controller *metav1.OwnerReference) (bool, error) {
	var remembered types.UID
	if m := p.Memory.Children[d.ID]; m != nil {
		remembered = m.Ours()
	}
	ours := func(o metav1.Object) bool {
		if controller != nil {
			return !ownership.LabelledByAnother(p, o)
		}
		return ownership.LabelledByUs(p, o) || remembered == o.GetUID()
	}
	if ours(o) || len(o.GetManagedFields()) > 0 {
		return ours(o), nil
	}
	found, err := p.LiveMetadata(d.Kind.GVK, d.ID.Key)
	if err != nil || found == nil || found.UID != o.GetUID() {
		d.Result.Reason = apply.ReasonReadFailed
		return false, err
	}
	return ours(found), nil
}

// CarryOut carries out the planned deletions.
func CarryOut(p *pass.Pass) {
	for _, d := range p.Deletions {
		if d.Result.Verb == apply.VerbDelete {
			deleteOne(p, d)
		}
		p.Result.Objects = append(p.Result.Objects, d.Result)
	}
}

func deleteOne(p *pass.Pass, d *pass.Deletion) {
	uid := d.Result.UID
	err := p.Env.DeleteExactly(p.Ctx, d.Kind.GVK, d.ID.Key, uid, d.Version, d.Propagation)
	for range maxTries {
		if !apierrors.IsConflict(err) || d.MatchResourceVersion {
			break
		}
		found, readErr := p.LiveMetadata(d.Kind.GVK, d.ID.Key)
		switch {
		case readErr != nil || found == nil:
			err = readErr
		case found.UID != uid:
			d.Result.Outcome, d.Result.Err = apply.OutcomeFailed, ownership.ErrReplaced
			return
		case !decideAgain(p, d, found):
			return
		default:
			err = p.Env.DeleteExactly(p.Ctx, d.Kind.GVK, d.ID.Key, uid, d.Version, d.Propagation)
		}
	}
	switch {
	case apierrors.IsConflict(err):
		d.Result.Outcome, d.Result.Err = apply.OutcomeFailed, fmt.Errorf("it has changed since it was read: %w", err)
	case err != nil:
		d.Result.Outcome, d.Result.Err = apply.OutcomeFailed, err
	default:
		d.Result.Outcome = apply.OutcomeDeleted
		p.NoteDeleted(d.ID, d.Result.UID)
	}
}

// decideAgain decides anew about an object that is not as the cache has shown
// it, and reports whether it is still to be deleted.
func decideAgain(p *pass.Pass, d *pass.Deletion, found client.Object) bool {
	d.Result.Verb, d.Result.Outcome = apply.VerbNone, apply.OutcomeUnchanged
	if err := decideExistingDeletion(p, d, found); err != nil {
		d.Result.Outcome, d.Result.Err = apply.OutcomeFailed, err
	}
	return d.Result.Verb == apply.VerbDelete
}
