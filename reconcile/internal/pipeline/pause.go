package pipeline

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// ConditionPaused is the condition of an owner that is paused by its annotation. It is there only while it is True.
const ConditionPaused = "Paused"

// DefaultPauseAnnotation is the annotation that pauses an owner unless the controller names another one.
const DefaultPauseAnnotation = "reconcilekit.dev/paused"

// IsPaused reports whether the annotation of the object is exactly "true". Nothing is read
// around a paused owner, and nothing of it is written, also while it is being deleted: not its children, not its finalizer, and of its
// status only [ConditionPaused].
func IsPaused(object client.Object, annotation string) bool {
	return object.GetAnnotations()[annotation] == "true"
}

// rest is the pass of a paused owner: it writes the condition that says so, once, and leaves the others as they are, with the
// generation that they are about.
func (p *pass[T, F, O]) rest(ctx context.Context, report *reconcile.Report) {
	report.Paused = true
	if !p.keeps(ConditionPaused) {
		return
	}
	if p.owners.Stale(p.owner, p.rc.Now, p.LagDeadline) {
		report.Outcome.Requeue(freshness.Poll)
		return
	}
	after := p.copied()
	list := slices.Clone(p.conditions.Get(after))
	meta.SetStatusCondition(&list, metav1.Condition{
		Type: ConditionPaused, Status: metav1.ConditionTrue, Reason: ReasonPaused, ObservedGeneration: p.owner.GetGeneration(),
		LastTransitionTime: metav1.NewTime(p.rc.Now), Message: p.pausedBy(),
	})
	p.conditions.Set(after, list)
	managed := []string{ConditionPaused}
	if own := p.ownCondition(); own != nil {
		for _, c := range list {
			if c.Type != ConditionPaused && own(c.Type) {
				managed = append(managed, c.Type)
			}
		}
	}
	var err error
	broken := p.run(ctx, reconcile.PhaseWriteStatus, func(ctx context.Context) {
		report.StatusWritten, err = p.StatusWriter.WriteStatus(ctx, p.owner, after, managed)
	})
	switch err = errors.Join(err, broken); {
	case err != nil:
		p.unstored(report, err)
	case report.StatusWritten:
		p.owners.NoteTypes(p.owner, managed, true)
		p.owners.Wrote(after, p.rc.Now)
	}
}

// pausedBy says why an owner is paused, and what that means.
func (p *Pipeline[T, F, O]) pausedBy() string {
	return "Paused by the annotation " + p.PauseAnnotation + ": the object and its children are left as they are"
}
