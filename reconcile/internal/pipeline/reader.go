package pipeline

import (
	"context"
	"errors"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/derived"
)

// notingReader records the failed reads of a pass, whether or not the phase reports them: the pass must neither prune objects that it
// could not read nor plan without them.
type notingReader struct {
	client.Reader

	mu      sync.Mutex
	failed  []error
	waiting *NotYetError
}

func (r *notingReader) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	return r.note(r.Reader.Get(ctx, key, into, opts...))
}

func (r *notingReader) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	return r.note(r.Reader.List(ctx, into, opts...))
}

func (r *notingReader) note(err error) error {
	if waiting := (*NotYetError)(nil); errors.As(err, &waiting) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting = waiting
		return err
	}
	if err != nil && !apierrors.IsNotFound(err) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.failed = append(r.failed, err)
	}
	return err
}

// Tracker returns the reader of a pass and records its reads, so that a change of any of them enqueues the owner. The package
// reconcile/controller has an implementation.
type Tracker interface {
	// Begin starts a pass of the owner. It tracks the reads of the returned reader immediately. End, called once,
	// drops the reads of earlier passes.
	Begin(owner client.ObjectKey) (r reconcile.Reader, end func())
	// Forget drops the reads of a deleted owner.
	Forget(owner client.ObjectKey)
}

// untracked is the Tracker of a Pipeline without one. It records nothing.
type untracked struct{ reader reconcile.Reader }

func (u untracked) Begin(client.ObjectKey) (r reconcile.Reader, end func()) {
	return u.reader, func() {}
}
func (untracked) Forget(client.ObjectKey) {}

// NotYetError is the error of a reader whose data is not available yet. The pass ends without planning, writing or reporting
// anything. The reader enqueues the owner when the data is available.
type NotYetError struct {
	// What names the missing data.
	What string
}

// Error names the missing data.
func (e *NotYetError) Error() string { return e.What + " is not known yet" }

// Derived reads a derived value, and records a failure like that of any other read.
func (r *notingReader) Derived(ctx context.Context, d derived.Derivation) (any, error) {
	value, err := derived.Through(r.Reader).Derived(ctx, d)
	return value, r.note(err)
}
