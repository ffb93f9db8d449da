package observe

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
)

// instrumentation is the name of the tracer. By the convention of OpenTelemetry it is the package that creates the spans.
const instrumentation = "github.com/reconcilekit/reconcilekit/reconcile/controller"

// The names of span attributes. Namespaces follow OpenTelemetry's conventions for Kubernetes, which have no terms for
// controllers.
const (
	spanPass = "Reconcile"

	attrController    = "reconcilekit.controller"
	attrNamespace     = "k8s.namespace.name"
	attrOwner         = "reconcilekit.owner.name"
	attrWakeEvent     = "reconcilekit.wake.event"
	attrWakeKind      = "reconcilekit.wake.kind"
	attrWakeNamespace = "reconcilekit.wake.namespace"
	attrWakeName      = "reconcilekit.wake.name"
	attrWakeManager   = "reconcilekit.wake.field_manager"
	attrWakeMore      = "reconcilekit.wake.more"
	attrState         = "reconcilekit.state"
	attrStatusWritten = "reconcilekit.status_written"
	attrRequeueAfter  = "reconcilekit.requeue_after" // in seconds
)

// Tracing creates a span for each pass and each phase.
type Tracing struct {
	reconcile.Observer

	name   string
	tracer trace.Tracer
}

var _ reconcile.Observer = (*Tracing)(nil)

// NewTracing returns nil if provider is nil, so that a controller without tracing has no overhead.
func NewTracing(name string, provider trace.TracerProvider, next reconcile.Observer) *Tracing {
	if provider == nil {
		return nil
	}
	return &Tracing{Observer: next, name: name, tracer: provider.Tracer(instrumentation)}
}

// Start starts the span of a pass. A pass without a trigger is a requeue, or the first of many after a start.
func (t *Tracing) Start(ctx context.Context, request ctrl.Request, woken trigger.Trigger, known bool) (context.Context, trace.Span) {
	attributes := []attribute.KeyValue{
		attribute.String(attrController, t.name),
		attribute.String(attrNamespace, request.Namespace),
		attribute.String(attrOwner, request.Name),
	}
	if known {
		attributes = append(attributes,
			attribute.String(attrWakeEvent, woken.Event),
			attribute.String(attrWakeKind, declaration.Print(woken.Kind)),
			attribute.String(attrWakeNamespace, woken.Object.Namespace),
			attribute.String(attrWakeName, woken.Object.Name),
			attribute.String(attrWakeManager, woken.Manager),
			attribute.Int(attrWakeMore, woken.More),
		)
	}
	return t.tracer.Start(ctx, spanPass, trace.WithAttributes(attributes...)) //nolint:spancheck // PassDone ends it
}

// PhaseStart implements reconcile.Observer.
func (t *Tracing) PhaseStart(ctx context.Context, phase reconcile.Phase) context.Context {
	ctx, _ = t.tracer.Start(t.Observer.PhaseStart(ctx, phase), string(phase)) //nolint:spancheck // PhaseDone ends it
	return ctx
}

// PhaseDone implements reconcile.Observer.
func (t *Tracing) PhaseDone(ctx context.Context, phase reconcile.Phase, took time.Duration, err error) {
	span := trace.SpanFromContext(ctx)
	failed(span, err)
	span.End()
	t.Observer.PhaseDone(ctx, phase, took, err)
}

// PassDone implements reconcile.Observer. The span ends with the pass.
func (t *Tracing) PassDone(ctx context.Context, report reconcile.Report) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(
			attribute.String(attrState, string(report.Assessment.State)),
			attribute.Bool(attrStatusWritten, report.StatusWritten),
			attribute.Float64(attrRequeueAfter, report.Outcome.RequeueAfter.Seconds()),
		)
		failed(span, errors.Join(errors.Join(report.Outcome.Retry...), errors.Join(report.Outcome.Terminal...)))
	}
	t.Observer.PassDone(ctx, report)
}

// failed records an error; for a panic it also records the stack.
func failed(span trace.Span, err error) {
	if err == nil || !span.IsRecording() {
		return
	}
	var options []trace.EventOption
	var panicked *reconcile.PanicError
	if errors.As(err, &panicked) {
		options = append(options, trace.WithAttributes(attribute.String("exception.stacktrace", string(panicked.Stack))))
	}
	span.RecordError(err, options...)
	span.SetStatus(codes.Error, err.Error())
}
