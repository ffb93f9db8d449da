package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Reasons of the events and of the condition about a pause.
const (
	// ReasonPaused announces that an owner is paused by its annotation.
	ReasonPaused = "Paused"
	// ReasonResumed announces that an owner is no longer paused.
	ReasonResumed = "Resumed"
)

// pause reports whether the owner is paused. The first pass after a change of the annotation reports the change in the
// log and in an event.
func (p *Pipeline[T, F, O]) pause(ctx context.Context, owner T) bool {
	paused := IsPaused(owner, p.PauseAnnotation)
	if !p.owners.Pause(owner, paused) {
		return paused
	}
	logger := log.FromContext(ctx)
	if paused {
		logger.Info("paused: nothing is read or written for the object", "annotation", p.PauseAnnotation)
		p.event(owner, corev1.EventTypeNormal, ReasonPaused, p.pausedBy())
		return true
	}
	logger.Info("resumed", "annotation", p.PauseAnnotation)
	p.event(owner, corev1.EventTypeNormal, ReasonResumed, "Resumed: the annotation "+p.PauseAnnotation+" is gone")
	return false
}

// EventAction is the action of all events. The events API requires an action.
const EventAction = "Reconcile"

func (p *Pipeline[T, F, O]) event(owner T, eventType, reason, message string) {
	if p.Recorder != nil {
		p.Recorder.Eventf(owner, nil, eventType, reason, EventAction, "%s", message)
	}
}

// announce logs the stored transitions, and sends events of those that are newsworthy.
func (p *Pipeline[T, F, O]) announce(owner T, logger logr.Logger, transitions []conditions.Transition) {
	for _, transition := range transitions {
		switch {
		case transition.LogAsError:
			logger.Error(nil, transition.LogMessage, transition.LogValues()...)
		case transition.LogMessage != "":
			logger.Info(transition.LogMessage, transition.LogValues()...)
		}
	}
	for _, transition := range newsworthy(transitions) {
		p.event(owner, transition.Event.Type, transition.Event.Reason, transition.Event.Message)
	}
}

// logErrors logs errors that controller-runtime does not log: errors that a requeue retries, and errors that are not retried, unless
// they are part of the returned error. It logs a persistent error when it appears and then as often as a backoff would
// retry it, not with every pass.
func (p *Pipeline[T, F, O]) logErrors(ctx context.Context, report *reconcile.Report, returned error, backoff, next time.Duration) {
	terminal := slices.DeleteFunc(slices.Clone(report.Outcome.Terminal), func(err error) bool { return errors.Is(returned, err) })
	if report.Handled == nil && len(terminal) == 0 {
		p.owners.Succeeded(report.Request.NamespacedName)
		return
	}
	if len(terminal) > 0 {
		backoff = max(backoff, repeatTerminal)
	}
	joined := errors.Join(append(terminal, report.Handled)...)
	if !p.owners.NewFailure(report.Request.NamespacedName, joined.Error(), p.Clock.Now(), backoff) {
		return
	}
	logger := log.FromContext(ctx)
	for _, err := range splitErrors(report.Handled) {
		logFailure(logger, err, "pass failed", "requeueAfter", next)
	}
	for _, err := range terminal {
		logFailure(logger, err, "pass failed, and trying again at once cannot help", "requeueAfter", next)
	}
}

// repeatTerminal is the interval at which a persistent error that is not retried is logged.
const repeatTerminal = 10 * time.Minute

// logFailure logs the full error, with its category and reason, and the object that it concerns.
func logFailure(logger logr.Logger, err error, message string, values ...any) {
	found := health.Categorize(err)
	values = append(values, "category", found.Category, "reason", found.Reason)
	if object, known := objectOf(err); known {
		values = append(values, "kind", object.GVK.Kind, "target", object.Key) // "object" is the owner
	}
	logger.Error(errors.New(found.Detail()), message, values...) //nolint:err113 // the text for the log, without credentials
}

// Reasons of the events about objects that are deleted.
const (
	// ReasonPruned announces the deletion of children that the plan no longer has.
	ReasonPruned = "Pruned"
	// ReasonDeleted announces a deletion that the plan asked for.
	ReasonDeleted = "Deleted"
)

// tellWrites logs each write of a pass, and sends events for deletions of objects that may have data or work, and for planned
// announcements.
func (p *pass[T, F, O]) tellWrites(result *apply.Result) {
	pruned, deleted := logWrites(p.rc.Log, result)
	p.announceDeleted(ReasonPruned, "deleted, as the plan does not name them any more", pruned)
	p.announceDeleted(ReasonDeleted, "deleted, as the plan asks for", deleted)
	for i := range result.Objects {
		if object := &result.Objects[i]; object.Wrote() && object.Announcement.Reason != "" {
			p.announcePlanned(object.Announcement)
		}
	}
}

// announcePlanned sends the event that the plan has for a write.
func (p *pass[T, F, O]) announcePlanned(planned apply.Announcement) {
	eventType := corev1.EventTypeNormal
	if planned.Warning {
		eventType = corev1.EventTypeWarning
	}
	p.event(p.owner, eventType, planned.Reason, conditions.Bound(planned.Message))
}

func (p *pass[T, F, O]) announceDeleted(reason, why string, names []string) {
	if len(names) == 0 {
		return
	}
	named := names[:min(len(names), maxLogged)]
	p.event(p.owner, corev1.EventTypeNormal, reason,
		conditions.Bound(fmt.Sprintf("%d %s: %s", len(names), why, strings.Join(named, ", "))))
}
