package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// Perform executes an external step.
func (w *Cluster) Perform(ctx context.Context, s description.Step, first bool) error {
	for n, owner := range w.System.Subjects() {
		of := s
		switch {
		case s == description.StepLess && n == w.System.Leaves && first:
			continue
		case s == description.StepLess && n == w.System.Leaves:
			of = description.StepDelete
		case s == description.StepLess, s == description.StepOff:
			of = description.StepA
		}
		if err := w.performOn(ctx, owner, of, first); err != nil {
			return fmt.Errorf("step %s: %w", s, err)
		}
	}
	return nil
}

func (w *Cluster) performOn(ctx context.Context, owner client.Object, s description.Step, first bool) error {
	wanted := owner.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
	if _, err := w.Place(wanted); err != nil {
		return err
	}
	if s == description.StepB {
		w.System.Change(wanted)
	}
	if first && s == description.StepDelete {
		return nil
	}
	if first {
		return w.Add(ctx, wanted)
	}
	if s == description.StepDelete {
		return client.IgnoreNotFound(w.Client.Delete(ctx, wanted))
	}
	live := owner.DeepCopyObject().(client.Object) //nolint:forcetypeassert // as above
	if err := w.Client.Get(ctx, client.ObjectKeyFromObject(wanted), live); apierrors.IsNotFound(err) {
		return w.Add(ctx, wanted) // an earlier step had fewer owners
	} else if err != nil {
		return err
	}
	gvk, err := w.Place(live)
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
	// The user declares everything except metadata and status.
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
	if w.System.Change != nil {
		w.System.Change(changed)
	}
	other, err := objects.ToUnstructured(changed, gvk)
	if err != nil {
		return err
	}
	stored.SetLabels(redeclared(stored.GetLabels(), target.GetLabels(), declared.GetLabels(), other.GetLabels()))
	stored.SetAnnotations(redeclared(stored.GetAnnotations(), target.GetAnnotations(), declared.GetAnnotations(), other.GetAnnotations()))
	return w.Client.Update(ctx, stored)
}

// redeclared returns the labels or annotations of an object after its user has declared others: those in no spec are kept.
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
