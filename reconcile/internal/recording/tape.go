package recording

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/conditionlist"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// tape stands between one pass and the world and notes what goes through.
type tape struct {
	namer

	when func(reconcile.Report) bool // nil is always

	mu   sync.Mutex
	rec  Recording
	errs []error // of the tape itself
	done bool    // the pass has come to its end, and is wanted
}

func newTape(controller string, request ctrl.Request, scheme *runtime.Scheme) *tape {
	return &tape{namer: namer{scheme}, rec: Recording{pass{
		Version: version, Controller: controller, Request: objectKey{Namespace: request.Namespace, Name: request.Name},
	}}}
}

// attach puts the tape into every way between the pass and the world.
func attach[T reconcile.Owner, F, O any](t *tape, c *pipeline.Config[T, F, O]) {
	c.Reader = &ownerTape{Reader: c.Reader, tape: t}
	c.Tracker = &readsTape{Tracker: c.Tracker, tape: t}
	c.Applier = &writesTape{Applier: c.Applier, tape: t}
	c.StatusWriter = &statusTape{StatusWriter: c.StatusWriter, tape: t, conditions: conditionlist.Of[T](c.Reconciler)}
	c.Observer = &endTape{Observer: c.Observer, tape: t}
	c.Clock = &clockTape{PassiveClock: c.Clock, tape: t}
	if c.Recorder != nil {
		c.Recorder = &eventsTape{EventRecorder: c.Recorder, tape: t}
	}
}

// note changes the recording.
func (t *tape) note(change func(r *Recording) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := change(&t.rec); err != nil {
		t.errs = append(t.errs, err)
	}
}

// recording is what the tape has, in its stable form; nil when there was no pass to its end.
func (t *tape) recording() (*Recording, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.done || len(t.rec.Owner) == 0 {
		return nil, nil
	}
	if err := errors.Join(t.errs...); err != nil {
		return nil, err
	}
	slices.SortStableFunc(t.rec.Reads, func(a, b answeredRead) int { return strings.Compare(a.String(), b.String()) })
	return &t.rec, nil
}

// ownerTape notes the owner.
type ownerTape struct {
	client.Reader
	tape *tape
}

func (r *ownerTape) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	err := r.Reader.Get(ctx, key, into, opts...)
	if err == nil {
		r.tape.note(func(rec *Recording) (err error) {
			rec.Owner, err = content(into)
			return err
		})
	}
	return err
}

// clockTape notes the time of the pass, which is the first that it asks for.
type clockTape struct {
	clock.PassiveClock
	tape *tape
}

func (c *clockTape) Now() time.Time {
	now := c.PassiveClock.Now()
	c.tape.note(func(rec *Recording) error {
		if rec.Now.IsZero() {
			rec.Now = utcTime{now}
		}
		return nil
	})
	return now
}

// readsTape notes the reads of the phase.
type readsTape struct {
	pipeline.Tracker
	tape *tape
}

func (t *readsTape) Begin(owner client.ObjectKey) (r reconcile.Reader, end func()) {
	inner, end := t.Tracker.Begin(owner)
	return &readerTape{Reader: inner, tape: t.tape}, end
}

type readerTape struct {
	reconcile.Reader
	tape *tape
}

func (r *readerTape) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	q := r.tape.get(key, into)
	err := r.Reader.Get(ctx, key, into, opts...)
	r.tape.read(q, into, err)
	return err
}

func (r *readerTape) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	q := r.tape.list(into, opts)
	err := r.Reader.List(ctx, into, opts...)
	r.tape.read(q, into, err)
	return err
}

func (t *tape) read(q query, answer runtime.Object, err error) {
	t.note(func(rec *Recording) error {
		read := answeredRead{query: q, Error: errorOf(err)}
		if err == nil {
			var broken error
			if read.Object, broken = content(answer); broken != nil {
				return broken
			}
		}
		rec.Reads = append(rec.Reads, read)
		return nil
	})
}

// get and list write down what is asked for.
func (n namer) get(key client.ObjectKey, into client.Object) query {
	return query{Verb: "get", Kind: n.kind(into), As: form(into), Namespace: key.Namespace, Name: key.Name}
}

func (n namer) list(into client.ObjectList, opts []client.ListOption) query {
	var o client.ListOptions
	o.ApplyOptions(opts)
	q := query{
		Verb: "list", Kind: n.items(into), As: form(into), Namespace: o.Namespace, Limit: o.Limit, Continue: o.Continue,
	}
	if o.LabelSelector != nil {
		q.Labels = o.LabelSelector.String()
	}
	if o.FieldSelector != nil {
		q.Fields = o.FieldSelector.String()
	}
	return q
}

// form is how an object is represented, "" for a Go type.
func form(obj runtime.Object) string {
	switch obj.(type) {
	case runtime.Unstructured:
		return "unstructured"
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return "metadata"
	}
	return ""
}

// writesTape notes what is written, and the answers.
type writesTape struct {
	pipeline.Applier
	tape *tape
}

func (w *writesTape) Apply(ctx context.Context, owner client.Object, plan apply.Plan) apply.Result {
	before := owner.GetResourceVersion()
	result := w.Applier.Apply(ctx, owner, plan)
	applied := appliedOf(plan, result)
	if owner.GetResourceVersion() != before {
		applied.Owner = metadataOf(owner)
	}
	w.tape.note(func(rec *Recording) error {
		rec.Applied = applied
		return nil
	})
	return result
}

// statusTape notes what is written to the owner itself.
type statusTape struct {
	pipeline.StatusWriter
	tape       *tape
	conditions conditionlist.Access
}

func (w *statusTape) WriteStatus(
	ctx context.Context, before, after client.Object, managed []string,
) (written bool, err error) {
	stored := &ownerWrite{Managed: slices.Clone(managed)}
	conditions := slices.Clone(w.conditions.Get(after))
	object, broken := statusOf(after)
	written, err = w.StatusWriter.WriteStatus(ctx, before, after, managed)
	stored.Object, stored.Written, stored.Error = object, written, errorOf(err)
	w.tape.note(func(rec *Recording) error {
		rec.Status, rec.Conditions = stored, conditions
		return broken
	})
	return written, err
}

// statusOf is the status of an object, without the conditions.
func statusOf(object client.Object) (jsonValue, error) {
	full, err := sparse(object)
	if err != nil {
		return nil, err
	}
	tree, _ := full.tree().(map[string]any)
	for _, field := range []string{"status", "Status"} { // that of a group has no tag
		if status, ok := tree[field].(map[string]any); ok {
			delete(status, "conditions")
			delete(status, "Conditions")
			return content(status)
		}
	}
	return nil, nil
}

func (w *statusTape) Rewrite(ctx context.Context, before, after client.Object) (written bool, err error) {
	object, broken := sparse(after)
	written, err = w.StatusWriter.Rewrite(ctx, before, after)
	w.tape.note(func(rec *Recording) error {
		if written || err != nil {
			rec.Migrated = &ownerWrite{Object: object, Written: written, Error: errorOf(err)}
		}
		return broken
	})
	return written, err
}

// metadataOf is the part of an owner that the engine writes, and what follows from it.
func metadataOf(owner client.Object) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{
		ResourceVersion: owner.GetResourceVersion(), Generation: owner.GetGeneration(),
		Labels: owner.GetLabels(), Annotations: owner.GetAnnotations(),
		Finalizers: owner.GetFinalizers(), ManagedFields: owner.GetManagedFields(),
	}
}

// eventsTape notes what is announced.
type eventsTape struct {
	pipeline.EventRecorder
	tape *tape
}

func (e *eventsTape) Event(object runtime.Object, eventType, reason, message string) {
	e.tape.note(func(rec *Recording) error {
		rec.Events = append(rec.Events, announcement{Type: eventType, Reason: reason, Message: message})
		return nil
	})
	e.EventRecorder.Event(object, eventType, reason, message)
}

// endTape notes what came of the pass.
type endTape struct {
	reconcile.Observer
	tape *tape
}

func (e *endTape) PassDone(ctx context.Context, report reconcile.Report) {
	if report.Paused {
		e.Observer.PassDone(ctx, report)
		return // nothing was read or decided that could be replayed
	}
	e.tape.note(func(rec *Recording) (err error) {
		if e.tape.done = e.tape.when == nil || e.tape.when(report); !e.tape.done {
			return nil
		}
		rec.Plan, err = e.tape.plan(&report.Plan)
		rec.Components = components(report.Components)
		rec.Announced = slices.Clone(report.Announced)
		rec.Outcome = passOutcome{
			State: string(report.Assessment.State), Blocked: text(report.Blocked), Retry: texts(report.Outcome.Retry),
			Terminal: texts(report.Outcome.Terminal), RequeueAfter: textDuration{report.Outcome.RequeueAfter},
		}
		return err
	})
	e.Observer.PassDone(ctx, report)
}
