package subject

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

func setReady(owner *widget.Widget, failed error) {
	condition := metav1.Condition{
		Type: widget.Ready, Status: metav1.ConditionTrue, Reason: "Applied", Message: "all children are applied",
		ObservedGeneration: owner.Generation, LastTransitionTime: metav1.NewTime(time.Now()),
	}
	if failed != nil {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "ApplyFailed", failed.Error()
	}
	meta.SetStatusCondition(&owner.Status.Conditions, condition)
	owner.Status.ObservedGeneration = owner.Generation
}

func statusEqual(a, b *widget.Widget) bool {
	return equality.Semantic.DeepEqual(a.Status, b.Status)
}

// updateStatus writes the status with an update.
func updateStatus(c client.Client) func(context.Context, *widget.Widget, *widget.Widget) error {
	return func(ctx context.Context, _, after *widget.Widget) error { return c.Status().Update(ctx, after) }
}

// patchStatus writes the status with a merge patch that fails on a conflict.
func patchStatus(c client.Client) func(context.Context, *widget.Widget, *widget.Widget) error {
	return func(ctx context.Context, before, after *widget.Widget) error {
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		return c.Status().Patch(ctx, after, patch)
	}
}

// applyStatus writes the status with server-side apply.
func applyStatus(c client.Client) func(context.Context, *widget.Widget, *widget.Widget) error {
	return func(ctx context.Context, _, after *widget.Widget) error {
		intent, err := statusIntent(after)
		if err != nil {
			return err
		}
		return c.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(intent), client.FieldOwner(FieldManager), client.ForceOwnership)
	}
}

func statusIntent(owner *widget.Widget) (*unstructured.Unstructured, error) {
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&owner.Status)
	if err != nil {
		return nil, err
	}
	intent := &unstructured.Unstructured{Object: map[string]any{"status": status}}
	intent.SetAPIVersion(widget.GroupVersion.String())
	intent.SetKind("Widget")
	intent.SetNamespace(owner.Namespace)
	intent.SetName(owner.Name)
	return intent, nil
}
