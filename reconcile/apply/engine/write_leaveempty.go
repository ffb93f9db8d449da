package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

var errChanged = errors.New("it has changed since it was looked at")

// part is the part of an object that one manager has applied.
type part struct {
	kind    schema.GroupVersionKind
	key     types.NamespacedName
	uid     types.UID
	version string // resourceVersion
	manager string
	entries []metav1.ManagedFieldsEntry
	planned map[string]any // the content that the manager is about to apply
}

// leavePartEmpty empties objects and lists that another manager owns and that hold only values that the manager no longer plans. A
// server-side apply that removes the last field of such an object makes it null, which the API server drops or refuses. It returns the
// resulting resourceVersion.
func leavePartEmpty(p *pass, part part) (version string, err error) {
	if !fieldset.Claims(part.entries, part.manager) {
		return part.version, nil
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(part.kind)
	if err := p.env.live.Get(p.ctx, part.key, u); err != nil {
		return "", err
	}
	if u.GetUID() != part.uid || u.GetResourceVersion() != part.version {
		return "", apierrors.NewConflict(schema.GroupResource{Group: part.kind.Group, Resource: part.kind.Kind}, part.key.Name, errChanged)
	}
	empty := fieldset.Emptied(u.GetManagedFields(), part.manager, u.Object, part.planned)
	if len(empty) == 0 {
		return part.version, nil
	}
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	patch := []operation{{"replace", "/metadata/resourceVersion", part.version}}
	for _, e := range empty {
		patch = append(patch, operation{"replace", e.Pointer, e.Value})
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return "", err
	}
	if err := p.env.client.Patch(p.ctx, u, client.RawPatch(types.JSONPatchType, data), client.FieldOwner(part.manager)); err != nil {
		return "", fmt.Errorf("leave %s empty: %w", empty[0].Pointer, err)
	}
	return u.GetResourceVersion(), nil
}

// leaveChildEmpty calls leavePartEmpty before the intent of a child is applied. The child is decided again if something was emptied or has
// changed.
func leaveChildEmpty(p *pass, c *child) error {
	if c.live == nil || c == p.ownerChild {
		return nil
	}
	before := c.live.GetResourceVersion()
	version, err := leavePartEmpty(p, part{
		kind: c.kind.GVK, key: c.id.Key, uid: c.live.GetUID(), version: before, manager: c.manager,
		entries: c.live.GetManagedFields(), planned: c.content,
	})
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return err
	}
	if err != nil || version != before {
		decideChildAgain(p, c)
	}
	return nil
}
