package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/fingerprint"
	"github.com/reconcilekit/reconcilekit/internal/mergepatch"
)

var errRewriteOwner = errors.New("rewrite: before and after must be two states of one existing object")

// Rewrite stores the differences between before and after, except for the status, in one merge patch with the UID and the resourceVersion
// of before. A conflict means that another writer was faster. It reports whether there was a difference. After a write, after is the
// stored object.
//
// The field manager has the suffix ":owner", as for the inventory, because the owner may be a child that a controller with the same field
// manager applies.
//
// Use it only to migrate an object to the current form of its own API. Use the apply engine for other objects.
func (w *Writer) Rewrite(ctx context.Context, before, after client.Object) (written bool, err error) {
	if after.GetUID() == "" || before.GetUID() != after.GetUID() {
		return false, errRewriteOwner
	}
	if same(before, after) {
		return false, nil
	}
	from, err := objectContent(before)
	if err != nil {
		return false, fmt.Errorf("rewrite: %w", err)
	}
	to, err := objectContent(after)
	if err != nil {
		return false, fmt.Errorf("rewrite: %w", err)
	}
	delete(from, "status")
	delete(to, "status")
	patch := mergepatch.Diff(from, to)
	if len(patch) == 0 {
		return false, nil
	}
	metadata, _ := patch["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		patch["metadata"] = metadata
	}
	metadata["uid"], metadata["resourceVersion"] = before.GetUID(), before.GetResourceVersion()
	body, err := json.Marshal(patch)
	if err != nil {
		return false, fmt.Errorf("rewrite: encode: %w", err)
	}
	err = w.client.Patch(ctx, after, client.RawPatch(types.MergePatchType, body), client.FieldOwner(w.opts.FieldManager+":owner"))
	if err != nil {
		return false, fmt.Errorf("rewrite: %w", err)
	}
	return true, nil
}

// same reports whether two objects are certainly equal. This avoids encoding them, which costs more than a reconciliation without
// changes.
func same(before, after client.Object) bool {
	a, known := fingerprint.Of(before)
	if !known {
		return false
	}
	b, known := fingerprint.Of(after)
	return known && a == b
}
