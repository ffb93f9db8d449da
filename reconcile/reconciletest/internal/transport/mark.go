package transport

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Marks of another client on the operator's objects.
const (
	Hold = "example.com/hold" // a finalizer
	Note = "example.com/note" // an annotation
)

// FaultMarked makes another client set a finalizer and an annotation on the object just before the request. The cache shows it right
// after the request, so that a retry in the same pass sees it.
const FaultMarked Fault = "annotated by another client just before"

// mark sets the marks of another client on the object of a request, unless it is being deleted.
func (w *Wire) mark(ctx context.Context, c *Call) error {
	u := w.peek(ctx, *c)
	if u == nil || u.GetDeletionTimestamp() != nil {
		return nil
	}
	if !slices.Contains(u.GetFinalizers(), Hold) {
		u.SetFinalizers(append(u.GetFinalizers(), Hold))
	}
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[Note] = "of another client"
	u.SetAnnotations(annotations)
	if err := w.cluster.Client.Update(ctx, u); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("mark %s: %w", c.Key, err)
	}
	c.Before = w.peek(ctx, *c)
	return nil
}

// show updates the cache after another client's change just before a request. It does not hold the lock, because event handlers may read.
func (w *Wire) show(marked bool) {
	if !marked || w.Shown == nil {
		return
	}
	w.mu.Unlock()
	defer w.mu.Lock()
	w.Shown()
}
