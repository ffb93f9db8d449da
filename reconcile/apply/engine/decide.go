package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// childDecision is what a pass does with one child. Execution carries it out and completes the result.
type childDecision struct {
	// needs is what has to be observed before the child can be decided. If it is set, the rest of the decision has no meaning.
	needs  need
	action action
	// result is the decision as it is reported, with the outcome before a request is sent.
	result  apply.ObjectResult
	requeue time.Duration
	// uid is the UID precondition of writes; force takes fields from other managers.
	uid   types.UID
	force bool
	// content is what an apply sends, with the rules for single fields; observed is the compared state of the live object.
	content  map[string]any
	rules    []intent.Rule
	observed fieldset.Observation
	// sentOnce are the existing fields that are sent only once.
	sentOnce []sentOnce
	// unwanted are the existing fields that the plan wants absent.
	unwanted []fieldset.Place
	// contest has the fields that are left out of the content because other managers insist on them, nil for none.
	contest *memory.Contest
	// repairs is the number of recent repairs of the object for this intent, including this pass; 0 if this pass is not counted.
	repairs int
	// shape is the hash of the visible values of an object whose managedFields the cache strips, 0 if it was not computed.
	shape uint64
	// foreign are the fields of other managers that an apply leaves in an object to which the engine has not applied before.
	foreign []apply.ContestedField
	// refused is the object that may not be written because it does not belong to the owner, nil for none.
	refused metav1.Object
	// remember is what the memory learns from the decision.
	remember memory.Changes
}

// need is a read without which a child cannot be decided.
type need int

const (
	needNothing need = iota
	// needLiveObject: the cache hides the object, or parts of it.
	needLiveObject
	// needLiveMetadata: only the API server can prove that the existing object may be written.
	needLiveMetadata
)

// action is the request that a child needs.
type action int

const (
	actionNone action = iota
	actionApply
	actionCreate
	actionMigrate
	actionRemove
	// actionMark updates only the owner reference and the label of the child.
	actionMark
)

// sentOnce is an existing field that is sent only once.
type sentOnce struct {
	path fieldset.Path
	want any
}

// decider is an observation with the decision that is made of it.
type decider struct {
	observation
	childDecision
}

// decide decides about a child. It is a function of the observation: it reads, writes, logs and remembers nothing. In the common case the
// resourceVersion and the hash of the intent prove that nothing has to be sent.
func decide(o *observation) childDecision {
	if r := &o.recall; r.Same && r.Contest == nil && !o.lacksShape() {
		return undecided(o)
	}
	d := decider{*o, undecided(o)}
	switch r := &d.recall; {
	case d.err != nil:
		d.fail(apply.OutcomeFailed, apply.ReasonReadFailed, d.err)
	case r.Hidden:
		d.decideHidden()
	case d.live == nil:
		d.decideMissing()
	case r.Same && r.Contest == nil:
		d.learnShape()
	case r.Same && r.Held != nil:
		d.contest = r.Held
		d.endUnchanged()
	case !d.fresh && d.planned.Mode != apply.Once && !hasManagedFields(d.live):
		d.decideStripped()
	default:
		d.decideExisting()
	}
	d.decided()
	return d.childDecision
}

// undecided returns the decision that the object is as planned.
func undecided(o *observation) childDecision {
	d := childDecision{repairs: o.counted}
	r := &d.result
	r.GVK, r.Key, r.Announcement = o.kind.GVK, o.id.Key, o.planned.Announcement
	r.Verb, r.Outcome, r.Reason = apply.VerbNone, apply.OutcomeUnchanged, apply.ReasonUpToDate
	if o.err != nil {
		return d
	}
	d.remember.Shown, d.remember.Unproven = o.recall.Shown, o.recall.Lapsed
	if o.fresh {
		if d.remember.Shown = o.live == nil; o.live != nil {
			d.remember.Read = o.live.GetResourceVersion()
		}
	}
	return d
}

// decided sets the verb of the action.
func (d *decider) decided() {
	switch {
	case d.action == actionNone:
		d.result.Verb = apply.VerbNone
	case d.live == nil && d.uid == "":
		d.result.Verb = apply.VerbCreate
	default:
		d.result.Verb = apply.VerbUpdate
	}
	d.result.UID, d.result.RequeueAfter = d.uid, d.requeue
}

// fail ends the child with an error.
func (d *childDecision) fail(outcome apply.Outcome, reason apply.Reason, err error) {
	d.result.Outcome, d.result.Reason, d.result.Err = outcome, reason, err
	d.action = actionNone
}

// decideHidden decides a child if the cache does not show the engine's last write yet. It waits for the cache if that write was an
// apply of the same intent.
func (d *decider) decideHidden() {
	r := &d.recall
	if r.Wait <= 0 || !r.Proven {
		d.needs = needLiveObject
		return
	}
	d.requeue, d.result.Reason = r.Wait, apply.ReasonStaleCache
	if r.Contest != nil {
		d.contest = r.Contest
		d.reportContest()
	}
}

// decideStripped decides a child whose managedFields the cache strips. If the visible planned fields are unchanged since the last live
// read, its result still holds. Otherwise the object is read live. Drift in parts that the cache strips is not repaired before that.
func (d *decider) decideStripped() {
	if d.isTerminating() {
		return
	}
	version := d.live.GetResourceVersion()
	if f := d.recall.Failure; f != nil && f.Version == version && d.failedBefore(f.UID, f.Others) {
		return
	}
	shape, err := d.computeShape()
	switch {
	case err != nil:
		d.fail(apply.OutcomeFailed, apply.ReasonInvalid, err)
	case d.recall.Proven && d.recall.Shape == shape && d.recall.Contest == nil:
		d.remember.Version = version
	default:
		d.needs, d.shape = needLiveObject, shape
	}
}

// lacksShape reports whether the shape of the object has to be remembered, for a cache that strips managedFields.
func (o *observation) lacksShape() bool {
	return o.recall.Shape == 0 && o.planned.Mode != apply.Once && !hasManagedFields(o.live)
}

// learnShape remembers the cached values of the fields that have just been applied.
func (d *decider) learnShape() {
	if shape, err := d.computeShape(); err == nil {
		d.remember.Shape = shape
	}
}

// confirmShape remembers the values that a cache without managedFields shows, if the live object of that version is as planned.
func (d *decider) confirmShape() {
	proven := d.remember.Proof != nil || (d.recall.Proven && !d.remember.Unproven)
	if s := d.stripped; s.shape != 0 && proven && d.action == actionNone && s.version == d.live.GetResourceVersion() {
		d.remember.Shape, d.remember.Shown = s.shape, true
	}
}

// computeShape returns the hash of the live values at the paths of the intent.
func (d *decider) computeShape() (uint64, error) {
	intended, err := d.compileContent()
	if err != nil {
		return 0, err
	}
	live, err := d.facts.encoder.Live(d.live)
	if err != nil {
		return 0, fmt.Errorf("encode the live object: %w", err)
	}
	d.findUnwanted(live)
	return d.facts.hasher.Shape(d.kind.Schema, intended, live) + uint64(len(d.unwanted)), nil
}

// longestPause is the maximum pause before a child that others delete is recreated. Users and test suites delete a child several times
// within a minute to see it recreated.
const longestPause = 30 * time.Second

// decideMissing decides a child that does not exist.
func (d *decider) decideMissing() {
	d.remember.Gone, d.remember.MaxPause = true, min(longestPause, d.facts.options.ContestInterval)
	if d.recall.Deletions > 0 {
		d.fail(apply.OutcomeContested, apply.ReasonContested, &apply.DeletedByOthersError{
			Kind: d.id.GroupKind.Kind, Namespace: d.id.Key.Namespace, Name: d.id.Key.Name, Times: d.recall.Deletions,
			Expires: d.expires(),
		})
		d.requeue = d.recall.Pause
		return
	}
	if d.failedBefore("", 0) {
		return
	}
	d.result.Reason = apply.ReasonMissing
	switch d.planned.Mode {
	case apply.Contribute:
		d.fail(apply.OutcomeBlocked, apply.ReasonMissing, apierrors.NewNotFound(resourceOf(d.kind.GVK), d.id.Key.Name))
		return
	case apply.Once:
		if !d.planned.Existing {
			d.prepareWrite(actionCreate, apply.ReasonMissing)
		}
		return
	case apply.Own, apply.Shared, apply.Retained:
	}
	if d.facts.dry && !d.fresh {
		d.needs = needLiveObject // a write would find out
		return
	}
	d.prepareWrite(actionApply, apply.ReasonMissing)
}

// expires reports whether the child is a Job that the cluster deletes when it is done.
func (d *decider) expires() bool {
	if d.id.GroupKind != (schema.GroupKind{Group: "batch", Kind: "Job"}) {
		return false
	}
	planned, err := d.compileContent()
	spec, _ := planned["spec"].(map[string]any)
	return err == nil && spec["ttlSecondsAfterFinished"] != nil
}

// failedBefore reports whether the same request has failed before and would fail again.
func (d *decider) failedBefore(uid types.UID, others uint64) bool {
	f := d.recall.Failure
	if !f.Repeats(memory.Situation{Intent: d.hash, UID: uid, Others: others}, d.facts.now) || d.facts.allowedSince(f.Err) {
		return false
	}
	d.fail(f.Outcome, apply.ReasonBackoff, f.Err)
	d.requeue = f.Until.Sub(d.facts.now)
	return true
}

// allowedSince reports whether the owner now has the annotation that the error asked for.
func (f *facts) allowedSince(err error) bool {
	var blocked *apply.RecreateBlockedError
	return errors.As(err, &blocked) && blocked.Token == f.allowPrune
}

// decideExisting decides an object that has changed, or that this process has not seen before.
func (d *decider) decideExisting() {
	if d.isTerminating() || !d.claim() {
		return
	}
	if d.planned.Mode == apply.Once {
		d.decideMarks()
		return
	}
	if d.recall.Failure != nil && d.failedBefore(d.uid, d.otherManagers()) {
		return
	}
	d.compare()
	if d.needs == needNothing {
		d.verifyFirstWrite()
		d.confirmShape()
	}
}

// isTerminating reports whether the object is being deleted. It is applied again when it is gone.
func (d *decider) isTerminating() bool {
	if !d.recall.Deleted && (d.live.GetDeletionTimestamp() == nil || d.partOfAnother()) {
		return false
	}
	d.result.Outcome, d.result.Reason, d.requeue = apply.OutcomeBlocked, apply.ReasonTerminating, confirmAfter
	if d.live.GetDeletionTimestamp() != nil {
		d.result.Finalizers = slices.Clone(d.live.GetFinalizers())
	}
	d.remember.Unproven = true
	return true
}

// partOfAnother reports whether the child is a part of an object other than the owner. Such a part stays planned while that object is
// being deleted.
func (o *observation) partOfAnother() bool { return o.planned.Mode == apply.Contribute && !o.ofOwner }

// prepareWrite compiles the intent for a request.
func (d *decider) prepareWrite(a action, why apply.Reason) {
	if d.content == nil {
		var err error
		if d.content, err = d.compileContent(); err != nil {
			d.fail(apply.OutcomeFailed, apply.ReasonInvalid, err)
			return
		}
	}
	d.action, d.result.Reason = a, why
}

func resourceOf(gvk schema.GroupVersionKind) schema.GroupResource {
	return schema.GroupResource{Group: gvk.Group, Resource: strings.ToLower(gvk.Kind)}
}
