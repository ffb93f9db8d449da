package write

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
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

var errChanged = errors.New("it has changed since it was looked at")

// Part is what a manager has applied of an object that was looked at.
type Part struct {
	Kind    schema.GroupVersionKind
	Key     types.NamespacedName
	UID     types.UID
	Version string // resourceVersion
	Manager string
	Entries []metav1.ManagedFieldsEntry
	Planned map[string]any // what the manager is about to apply
}

// LeaveEmpty empties the objects and lists that somebody else wants, and in which nothing is but what the manager no longer plans: a
// server-side apply that takes the last field out of one makes null of it, which the API server drops or refuses. It returns the
// resourceVersion that is there then.
func LeaveEmpty(p *pass.Pass, part Part) (version string, err error) {
	if !fieldset.Claims(part.Entries, part.Manager) {
		return part.Version, nil
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(part.Kind)
	if err := p.Env.Live.Get(p.Ctx, part.Key, u); err != nil {
		return "", err
	}
	if u.GetUID() != part.UID || u.GetResourceVersion() != part.Version {
		return "", apierrors.NewConflict(schema.GroupResource{Group: part.Kind.Group, Resource: part.Kind.Kind}, part.Key.Name, errChanged)
	}
	empty := fieldset.Emptied(u.GetManagedFields(), part.Manager, u.Object, part.Planned)
	if len(empty) == 0 {
		return part.Version, nil
	}
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	patch := []operation{{"replace", "/metadata/resourceVersion", part.Version}}
	for _, e := range empty {
		patch = append(patch, operation{"replace", e.Pointer, e.Value})
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return "", err
	}
	if err := p.Env.Client.Patch(p.Ctx, u, client.RawPatch(types.JSONPatchType, data), client.FieldOwner(part.Manager)); err != nil {
		return "", fmt.Errorf("leave %s empty: %w", empty[0].Pointer, err)
	}
	return u.GetResourceVersion(), nil
}

// leaveEmpty does so before the intent of a child is applied, which is decided about anew when something was emptied, or has changed.
func leaveEmpty(p *pass.Pass, c *pass.Child) error {
	if c.Live == nil || c == p.OwnerChild {
		return nil
	}
	before := c.Live.GetResourceVersion()
	version, err := LeaveEmpty(p, Part{
		Kind: c.Kind.GVK, Key: c.ID.Key, UID: c.Live.GetUID(), Version: before, Manager: c.Manager,
		Entries: c.Live.GetManagedFields(), Planned: c.Content,
	})
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return err
	}
	if err != nil || version != before {
		decideAgain(p, c)
	}
	return nil
}
