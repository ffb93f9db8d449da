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

// ConditionPaused is the condition of an owner that is paused by its annotation. It is present only while it is True.
const ConditionPaused = "Paused"

// DefaultPauseAnnotation is the annotation that pauses an owner unless the controller names another one.
const DefaultPauseAnnotation = "reconcilekit.dev/paused"

// IsPaused reports whether the annotation of the object is exactly "true". The operator reads no objects for a paused owner. It writes
// neither the children nor the finalizer, also during deletion, and only [ConditionPaused] of the status.
func IsPaused(object client.Object, annotation string) bool {
	return object.GetAnnotations()[annotation] == "true"
}

// rest is the pass of a paused owner. It writes the condition Paused, once, and leaves the other conditions unchanged, with their
// observed generation.
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

// pausedBy returns the message of the pause: its cause and its effect.
func (p *Pipeline[T, F, O]) pausedBy() string {
	return "Paused by the annotation " + p.PauseAnnotation + ": the object and its children are left as they are"
}
