package reconciletest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// perform carries out a step from outside.
func (w *world) perform(ctx context.Context, s step, first bool) error {
	for n, owner := range w.system.subjects() {
		of := s
		switch {
		case s == stepLess && n == w.system.leaves && first:
			continue
		case s == stepLess && n == w.system.leaves:
			of = stepDelete
		case s == stepLess, s == stepOff:
			of = stepA
		}
		if err := w.performOn(ctx, owner, of, first); err != nil {
			return fmt.Errorf("step %s: %w", s, err)
		}
	}
	return nil
}

func (w *world) performOn(ctx context.Context, owner client.Object, s step, first bool) error {
	wanted := owner.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
	if _, err := w.place(wanted); err != nil {
		return err
	}
	if s == stepB {
		w.system.Change(wanted)
	}
	if first && s == stepDelete {
		return nil
	}
	if first {
		return w.add(ctx, wanted)
	}
	if s == stepDelete {
		return client.IgnoreNotFound(w.client.Delete(ctx, wanted))
	}
	live := owner.DeepCopyObject().(client.Object) //nolint:forcetypeassert // as above
	if err := w.client.Get(ctx, client.ObjectKeyFromObject(wanted), live); apierrors.IsNotFound(err) {
		return w.add(ctx, wanted) // an earlier step was about less owners
	} else if err != nil {
		return err
	}
	gvk, err := w.place(live)
	if err != nil {
		return err
	}
	stored, err := objects.ToUnstructured(live, gvk)
	if err != nil {
		return err
	}
	target, err := objects.ToUnstructured(wanted, gvk)
	if err != nil {
		return err
	}
	// Everything but metadata and status is what the user has asked for.
	for field := range stored.Object {
		if !slices.Contains([]string{"metadata", "status", "apiVersion", "kind"}, field) {
			delete(stored.Object, field)
		}
	}
	for field, value := range target.Object {
		if field != "metadata" && field != "status" {
			stored.Object[field] = value
		}
	}
	declared, err := objects.ToUnstructured(owner, gvk)
	if err != nil {
		return err
	}
	changed := owner.DeepCopyObject().(client.Object) //nolint:forcetypeassert // as above
	if w.system.Change != nil {
		w.system.Change(changed)
	}
	other, err := objects.ToUnstructured(changed, gvk)
	if err != nil {
		return err
	}
	stored.SetLabels(redeclared(stored.GetLabels(), target.GetLabels(), declared.GetLabels(), other.GetLabels()))
	stored.SetAnnotations(redeclared(stored.GetAnnotations(), target.GetAnnotations(), declared.GetAnnotations(), other.GetAnnotations()))
	return w.client.Update(ctx, stored)
}

// redeclared are the labels or annotations of an object after its user has declared others: what no spec speaks of stays.
func redeclared(stored, target map[string]string, specs ...map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, stored)
	for _, declared := range specs {
		for key := range declared {
			delete(out, key)
		}
	}
	maps.Copy(out, target)
	if len(out) == 0 {
		return nil
	}
	return out
}
