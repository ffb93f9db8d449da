package prune

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

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
)

var errChanged = errors.New("it has changed since it was looked at")

func (p *Prune) giveBack(r *plannedRelease) (apply.Outcome, error) {
	if ownership.GoesWithPart(p.Pass, r.found) {
		return apply.Pruned, p.Env.DeleteExactly(p.Ctx, r.Result.GVK, r.id.Key, r.found.UID, r.found.ResourceVersion, "")
	}
	version, err := p.leaveEmpty(r)
	if err != nil {
		return apply.Released, client.IgnoreNotFound(err)
	}
	// An apply of nothing removes what this owner owns alone.
	data, err := content.PinnedBody(nil, r.Result.GVK, r.id.Key, r.found.UID, version)
	if err != nil {
		return apply.Failed, err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(r.Result.GVK)
	o.Name, o.Namespace = r.id.Key.Name, r.id.Key.Namespace
	err = p.Env.Client.Patch(p.Ctx, o, client.RawPatch(types.ApplyPatchType, data),
		client.FieldOwner(p.Contributor()), client.ForceOwnership)
	return apply.Released, client.IgnoreNotFound(err)
}

// leaveEmpty empties the objects and lists that somebody else wants, and in which nothing but this owner's part is: a server-side apply
// that takes the last field out of one makes null of it, which the API server drops or refuses. It returns the version that is there then.
func (p *Prune) leaveEmpty(r *plannedRelease) (version string, err error) {
	if !managedfields.Claims(r.found.ManagedFields, p.Contributor()) {
		return r.found.ResourceVersion, nil
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.Result.GVK)
	if err := p.Env.Live.Get(p.Ctx, r.id.Key, u); err != nil {
		return "", err
	}
	if u.GetUID() != r.found.UID || u.GetResourceVersion() != r.found.ResourceVersion {
		resource := schema.GroupResource{Group: r.id.GroupKind.Group, Resource: r.id.GroupKind.Kind}
		return "", apierrors.NewConflict(resource, r.id.Key.Name, errChanged)
	}
	empty := managedfields.Emptied(u.GetManagedFields(), p.Contributor(), u.Object)
	if len(empty) == 0 {
		return r.found.ResourceVersion, nil
	}
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	patch := []operation{{"replace", "/metadata/resourceVersion", r.found.ResourceVersion}}
	for _, e := range empty {
		patch = append(patch, operation{"replace", e.Pointer, e.Value})
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return "", err
	}
	if err := p.Env.Client.Patch(p.Ctx, u, client.RawPatch(types.JSONPatchType, data), client.FieldOwner(p.Contributor())); err != nil {
		return "", fmt.Errorf("leave %s empty: %w", empty[0].Pointer, err)
	}
	return u.GetResourceVersion(), nil
}
