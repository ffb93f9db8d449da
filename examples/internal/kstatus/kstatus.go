// Package kstatus checks that generic tools such as helm, flux and kpt derive the same state of an owner as its condition Ready.
// These tools use sigs.k8s.io/cli-utils/pkg/kstatus, and so does this package.
package kstatus

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Check reports owners whose kstatus differs from their condition Ready: exactly the ready owners must be current, and the Stalled
// ones failed. Owners without conditions are ignored.
func Check(ctx context.Context, c client.Reader, kinds ...schema.GroupVersionKind) error {
	var errs []error
	for _, kind := range kinds {
		var owners unstructured.UnstructuredList
		owners.SetGroupVersionKind(kind)
		if err := c.List(ctx, &owners); err != nil {
			return fmt.Errorf("list %s: %w", kind.Kind, err)
		}
		for i := range owners.Items {
			errs = append(errs, check(&owners.Items[i]))
		}
	}
	return errors.Join(errs...)
}

func check(owner *unstructured.Unstructured) error {
	conditions, _, err := unstructured.NestedSlice(owner.Object, "status", "conditions")
	if err != nil || len(conditions) == 0 {
		return err
	}
	got, err := status.Compute(owner)
	if err != nil {
		return fmt.Errorf("%s %s/%s: %w", owner.GetKind(), owner.GetNamespace(), owner.GetName(), err)
	}
	if want := expected(owner, conditions); got.Status != want {
		return fmt.Errorf("%s %s/%s: kstatus is %s (%s), want %s for the conditions %v",
			owner.GetKind(), owner.GetNamespace(), owner.GetName(), got.Status, got.Message, want, conditions)
	}
	return nil
}

// expected returns the status that follows from the conditions.
func expected(owner *unstructured.Unstructured, conditions []any) status.Status {
	observed, found, err := unstructured.NestedInt64(owner.Object, "status", "observedGeneration")
	switch {
	case owner.GetDeletionTimestamp() != nil:
		return status.TerminatingStatus
	case err == nil && found && observed != owner.GetGeneration():
		return status.InProgressStatus
	case is(conditions, "Ready"):
		return status.CurrentStatus
	case is(conditions, "Stalled"):
		return status.FailedStatus
	}
	return status.InProgressStatus
}

// is reports whether the condition is True.
func is(conditions []any, conditionType string) bool {
	for _, item := range conditions {
		if c, ok := item.(map[string]any); ok && c["type"] == conditionType {
			return c["status"] == "True"
		}
	}
	return false
}
