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

// Rewrite stores what after has different from before, status left out, in one merge patch with the UID and the
// resourceVersion of before; a conflict means that another writer was faster. It reports whether there was something
// to write. After a write, after is the stored object.
//
// It is written under the field manager with ":owner" appended, as the inventory is: the owner may be a child that a
// controller with the same field manager applies.
//
// It is for the one-time move of an object to the current form of its own API. What a controller wants to be true of other
// objects is for the apply engine.
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

// same reports whether two objects are certainly equal, which is so for most: a comparison of what they encode to costs more
// than a pass that has nothing to do.
func same(before, after client.Object) bool {
	a, known := fingerprint.Of(before)
	if !known {
		return false
	}
	b, known := fingerprint.Of(after)
	return known && a == b
}
