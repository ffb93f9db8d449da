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

// notingReader remembers the reads of a pass that failed, whether or not the phase reports them: what could not be read
// must neither be pruned nor be planned without.
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

// Tracker gives out the reader of a pass and remembers what was read with it, so that a change of any of it wakes the
// owner. The package reconcile/controller has one.
type Tracker interface {
	// Begin starts a pass of the owner. The reads of the returned reader are tracked for it at once; end, called once,
	// replaces what earlier passes had tracked.
	Begin(owner client.ObjectKey) (r reconcile.Reader, end func())
	// Forget drops all that is tracked for an owner that is gone.
	Forget(owner client.ObjectKey)
}

// untracked is the Tracker of a Pipeline without one: nothing is remembered.
type untracked struct{ reader reconcile.Reader }

func (u untracked) Begin(client.ObjectKey) (r reconcile.Reader, end func()) {
	return u.reader, func() {}
}
func (untracked) Forget(client.ObjectKey) {}

// NotYetError is the answer of a reader that will know later. The pass ends without planning, writing or reporting
// anything; the reader wakes the owner when it knows.
type NotYetError struct {
	// What is not known yet.
	What string
}

// Error names what is not known yet.
func (e *NotYetError) Error() string { return e.What + " is not known yet" }

// Derived notes a value that could not be had like any other read.
func (r *notingReader) Derived(ctx context.Context, d derived.Derivation) (any, error) {
	value, err := derived.Through(r.Reader).Derived(ctx, d)
	return value, r.note(err)
}
