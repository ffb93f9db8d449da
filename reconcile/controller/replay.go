package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/recording"
	"github.com/reconcilekit/reconcilekit/reconcile/record"
)

// replaying is implemented by managers that replay recordings, as those of tests do: each controller that is set up with one
// hands over what replays its passes, under its name.
type replaying interface {
	// Replays takes the function that replays a pass of the controller, see [recording.Replay].
	Replays(controller string, replay func(ctx context.Context, r *record.Recording) (*record.Recording, error))
}

// Replay runs a recorded pass again with the reconciler of the builder and the recorded answers, without a cluster. It returns the
// recording of what the phases do now. The error names each read that has no recorded answer; the recording is there nevertheless. The
// scheme is that of the operator.
func (b *Builder[T, F, O]) Replay(
	ctx context.Context, scheme *runtime.Scheme, r *record.Recording,
) (*record.Recording, error) {
	return recording.Replay(ctx, b.phases(), r, recordOptions(scheme))
}

// phases is the part of a pipeline's configuration that decides.
func (b *Builder[T, F, O]) phases() pipeline.Config[T, F, O] {
	return pipeline.Config[T, F, O]{
		Name:            b.name,
		Reconciler:      b.reconciler,
		New:             newObject[T],
		Decorate:        b.decorate,
		Finalizer:       b.names().Finalizer,
		FieldManager:    b.names().FieldManager,
		Domain:          b.options.Apply.Domain,
		FormerManagers:  b.options.Apply.FormerManagers,
		Grace:           b.options.Grace,
		LagDeadline:     b.options.Apply.LagDeadline,
		Budget:          b.options.Budget,
		PauseAnnotation: b.options.PauseAnnotation, PauseUnwritten: b.options.PauseUnwritten,
	}
}

// recorded returns the pipeline, with its passes recorded when the options say so, and offers it for replay.
func (b *Builder[T, F, O]) recorded(mgr manager.Manager, runner *pipeline.Pipeline[T, F, O]) ctrl.Reconciler {
	options := recordOptions(mgr.GetScheme())
	if r, ok := mgr.(replaying); ok {
		r.Replays(b.name, func(ctx context.Context, r *record.Recording) (*record.Recording, error) {
			return recording.Replay(ctx, runner.Config, r, options)
		})
	}
	return recording.Reconciler(runner, b.options.Record, options)
}

func recordOptions(scheme *runtime.Scheme) recording.ReplayOptions {
	return recording.ReplayOptions{Scheme: scheme, Restore: restore}
}

// restore makes the errors of this package out of their written form.
func restore(goType string, gvk schema.GroupVersionKind, name string) error {
	if goType != fmt.Sprintf("%T", &AbsentError{}) {
		return nil
	}
	return &AbsentError{GVK: gvk, Name: name}
}
