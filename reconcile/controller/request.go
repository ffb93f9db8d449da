package controller

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// RequestAnnotation requests a reconciliation of an owner at once. Its value is any text of at most 256 characters, such as the time; a
// different value is a new request. The reconciliation repeats writes that the API server has refused, without the delay that follows a
// refusal. Requests alone cause at most one reconciliation of an owner in 5 seconds.
//
// When the reconciliation has ended, the controller stores the value in the annotation that [HandledAnnotation] returns. Its result is in
// the conditions. A paused owner is not reconciled; the request is handled after the pause. Groups have no annotations.
const RequestAnnotation = pipeline.RequestAnnotation

// HandledAnnotation returns the annotation in which the controller with the field manager stores the value of the last request that it has
// handled. The default field manager is the name of the controller.
func HandledAnnotation(fieldManager string) string { return pipeline.HandledAnnotation(fieldManager) }

// acknowledge returns a function that stores the token of a handled request on an owner of the kind. The annotation has a field manager of
// its own, so that it does not become part of the inventory.
func acknowledge(
	writer client.Writer, kind schema.GroupVersionKind, fieldManager string,
) func(ctx context.Context, owner client.Object, token string) (client.Object, error) {
	return func(ctx context.Context, owner client.Object, token string) (client.Object, error) {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid": owner.GetUID(), "annotations": map[string]any{pipeline.HandledAnnotation(fieldManager): token},
		}})
		if err != nil {
			return nil, err
		}
		into := declaration.MetadataOf(kind)
		into.SetNamespace(owner.GetNamespace())
		into.SetName(owner.GetName())
		return into, writer.Patch(ctx, into, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(fieldManager+":request"))
	}
}
