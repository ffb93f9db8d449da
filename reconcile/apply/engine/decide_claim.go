package engine

import (
	"errors"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// errReplaced ends a request for an object that has been replaced.
var errReplaced = errors.New("the object was replaced and the cache is stale; will retry")

// claim reports whether the existing child may be written: it belongs to the owner, or the plan allows its adoption, and it has not opted
// out. If so, the object is the child from then on. Otherwise the decision has the reason, or needs the live metadata.
func (d *decider) claim() bool {
	if d.planned.Mode != apply.Contribute && d.facts.optedOut(d.live) {
		d.result.Outcome, d.result.Reason = apply.OutcomeOptedOut, apply.ReasonOptedOut
		d.remember.Unproven = true
		return false
	}
	if !d.mayTake() {
		return false
	}
	d.uid = d.live.GetUID()
	proven := !d.recall.Ours && d.member && d.facts.provesMember(d.live, "")
	if proven || !d.recall.Known {
		d.remember.UID, d.remember.Ours = d.uid, proven
	}
	return true
}

func (d *decider) mayTake() bool {
	if d.planned.Existing {
		return true // it is left alone, whichever owner it belongs to
	}
	if !d.needsProof() || !d.hidesProof() {
		return d.checkOwner(d.live)
	}
	if !d.confirmed { // the cache does not show who wrote it
		d.needs = needLiveMetadata
		return false
	}
	return d.metadata == nil || d.checkOwner(d.metadata)
}

// hidesProof reports whether the cache may hide the managedFields, or those of other managers, that prove that the child may be written.
func (d *decider) hidesProof() bool {
	entries := d.live.GetManagedFields()
	if len(entries) == 0 {
		return true
	}
	shortened := slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.FieldsV1 == nil })
	return shortened && d.planned.Adoption != apply.AdoptControlled && !d.mayWrite(d.live)
}

// needsProof reports whether the managedFields are needed to decide whether the existing child may be written.
func (d *decider) needsProof() bool {
	switch d.planned.Mode {
	case apply.Shared, apply.Retained:
		return !d.recall.Known
	case apply.Own:
		return !d.recall.Ours && (!d.reach || d.live.GetLabels()[applyset.PartOfLabel] != d.facts.setID)
	case apply.Once, apply.Contribute:
	}
	return false
}

// verifyFirstWrite checks the live metadata before the first write to an existing child without a controller reference. Without that
// reference, the API server would accept the write even if another controller owns the object.
func (d *decider) verifyFirstWrite() {
	if d.recall.Known || d.reach || d.action == actionNone || d.action == actionCreate {
		return
	}
	if !d.confirmed {
		d.needs = needLiveMetadata
		return
	}
	if d.metadata == nil {
		return // the write finds out
	}
	owned := d.checkOwner(d.metadata)
	if owned && d.metadata.UID == d.uid {
		return
	}
	d.remember.UID, d.remember.Ours = "", false // the claim was wrong
	if owned {
		d.fail(apply.OutcomeFailed, apply.ReasonNoMatch, errReplaced)
	}
}

// checkOwner applies the adoption policy. Contributions always go to objects of other owners.
func (d *decider) checkOwner(o metav1.Object) bool {
	if d.planned.Mode == apply.Contribute || d.planned.Adoption == apply.AdoptControlled || d.mayWrite(o) || d.facts.adopts(o) {
		return true
	}
	controller := metav1.GetControllerOfNoCopy(o)
	if controller != nil {
		copied := *controller
		controller = &copied
	}
	d.fail(apply.OutcomeFailed, apply.ReasonNotOwned, &apply.OwnedByAnotherError{
		Kind: d.id.GroupKind.Kind, Namespace: d.id.Key.Namespace, Name: d.id.Key.Name, Controller: controller,
	})
	d.refused, d.remember.Unproven = o, true
	return false
}

// decideMarks decides an existing child that is only created. Its content is left alone. It is patched if it lacks its owner reference or
// label. The owner reference must name a served version: garbage collection cannot follow another one and would not delete the child. A
// removed label is added again to an object that is known to be this owner's, but not repeatedly. A child of the history that has the label
// from another mode loses it, because it would be pruned.
func (d *decider) decideMarks() {
	d.result.Reason = apply.ReasonExists
	outdated := d.facts.outdatedReference(d.live)
	unlabelled := d.lacksLabel()
	listed := d.planned.History && d.facts.inSet(d.live) && metav1.IsControlledBy(d.live, d.facts.owner)
	if outdated < 0 && !unlabelled && !listed {
		d.remember.Proof = &memory.Proof{Intent: d.hash, Version: d.live.GetResourceVersion()}
		return
	}
	var fields []apply.FieldChange
	if outdated >= 0 {
		fields = append(fields, apply.FieldChange{
			Path: ".metadata.ownerReferences[" + strconv.Itoa(outdated) + "].apiVersion",
			From: strconv.Quote(d.live.GetOwnerReferences()[outdated].APIVersion), To: strconv.Quote(d.facts.ownerKind.GVK.GroupVersion().String()),
		})
	}
	if unlabelled {
		fields = append(fields, apply.FieldChange{Path: ".metadata.labels." + applyset.PartOfLabel, To: strconv.Quote(d.facts.setID)})
	}
	if listed {
		fields = append(fields, apply.FieldChange{
			Path: ".metadata.labels." + applyset.PartOfLabel, From: strconv.Quote(d.live.GetLabels()[applyset.PartOfLabel]),
		})
	}
	if d.countRepair() <= memory.MaxRepairs {
		d.action, d.result.Reason, d.result.Fields = actionMark, apply.ReasonDrift, fields
		return
	}
	contested := &apply.ContestedError{Kind: d.id.GroupKind.Kind, Namespace: d.id.Key.Namespace, Name: d.id.Key.Name}
	last := fieldset.LastWriter(d.live.GetManagedFields(), d.manager)
	if last == d.manager || last == "" {
		last = "unknown" // a removal leaves no entry
	}
	for _, f := range fields {
		contested.Fields = append(contested.Fields, apply.ContestedField{Path: f.Path, Manager: last})
	}
	d.fail(apply.OutcomeContested, apply.ReasonContested, contested)
	d.requeue = d.facts.options.ContestInterval
}

// lacksLabel reports whether the part-of label was removed from a child that is known to be this owner's.
func (d *decider) lacksLabel() bool {
	ours := d.recall.Ours || d.remember.Ours
	return d.member && !d.planned.Existing && d.live.GetLabels()[applyset.PartOfLabel] == "" && ours && metav1.IsControlledBy(d.live, d.facts.owner)
}

// outdatedReference returns the index of the reference to this owner in another version of its kind, -1 if there is none.
func (f *facts) outdatedReference(o metav1.Object) int {
	if f.group != nil {
		return -1
	}
	want := f.ownerKind.GVK
	for i, ref := range o.GetOwnerReferences() {
		if ref.UID == f.owner.GetUID() && ref.Kind == want.Kind && ref.APIVersion != want.GroupVersion().String() {
			return i
		}
	}
	return -1
}
