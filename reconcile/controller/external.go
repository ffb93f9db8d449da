package controller

import (
	"context"
	"errors"
	"fmt"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/outside"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/external"
)

// intercepting is implemented by managers of tests that stand around every call outside of the cluster, to search with faults.
type intercepting interface {
	// InterceptExternal is called around every call, see [external.Interceptor].
	InterceptExternal(ctx context.Context, call external.Call, next func(context.Context) error) error
}

var errExternalGroup = errors.New("a group has no object that could remember what it has outside of the cluster: declare External on the controller of an object")

// outside sets the declared kinds up.
func (b *Builder[T, F, O]) outside(mgr manager.Manager, reads *tracked.Reads, options Options, calls *observe.Observer) error {
	config := external.Config{Called: calls.Called}
	if test, ok := mgr.(intercepting); ok {
		config.Intercept = test.InterceptExternal
	}
	return b.engineOutside(reads, options, config)
}

// dryOutside sets the declared kinds up for a preview, which observes and changes nothing.
func (b *Builder[T, F, O]) dryOutside(reads *tracked.Reads, options Options) error {
	return b.engineOutside(reads, options, external.Config{DryRun: true})
}

func (b *Builder[T, F, O]) engineOutside(reads *tracked.Reads, options Options, config external.Config) error {
	if len(b.externals) == 0 {
		return nil
	}
	if b.store != nil {
		return fmt.Errorf("controller %q: External at %s: %w", b.name, b.externals[0].source, errExternalGroup)
	}
	config.FieldManager, config.Finalizer, config.Clock = b.names().FieldManager, b.names().Finalizer, options.Clock
	if config.Domain = options.Apply.Domain; config.Domain == "" {
		config.Domain = apply.DefaultDomain
	}
	for _, k := range b.externals {
		config.Kinds = append(config.Kinds, k.Declared)
	}
	var err error
	if reads.Outside, err = outside.New(reads.Tracker, config); err != nil {
		return fmt.Errorf("controller %q: %w", b.name, err)
	}
	return nil
}
