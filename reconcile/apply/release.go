package apply

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// releaseAll gives back the contributions that are recorded and no longer
// planned. It returns those that could not be given back.
func (p *pass) releaseAll() []applyset.ObjectID {
	recorded, err := p.recorded()
	if err != nil {
		return nil // the listing has already failed of the same
	}
	var kept []applyset.ObjectID
	for _, id := range recorded.Contributions {
		if m := p.memory.children[id]; m != nil && m.pass == p.memory.pass && m.mode == Contribute {
			continue
		}
		result := ObjectResult{GVK: schema.GroupVersionKind{Group: id.GroupKind.Group, Kind: id.GroupKind.Kind}, Key: id.Key}
		released, err := p.release(id, &result)
		if err != nil {
			kept = append(kept, id)
			result.Outcome, result.Err = Failed, fmt.Errorf("give back the contribution: %w", err)
			p.result.Objects = append(p.result.Objects, result)
		} else if released {
			result.Outcome = Released
			p.result.Objects = append(p.result.Objects, result)
		}
	}
	return kept
}

// release applies nothing under the owner's own manager, which removes what it
// owns alone. The UID keeps that from creating an object, or from touching one
// that has taken the place. It says whether something was sent.
func (p *pass) release(id applyset.ObjectID, result *ObjectResult) (bool, error) {
	mapping, err := p.engine.client.RESTMapper().RESTMapping(id.GroupKind)
	if meta.IsNoMatchError(err) {
		return false, nil // the kind is gone, and its objects with it
	}
	if err != nil {
		return false, err
	}
	gvk := mapping.GroupVersionKind
	result.GVK = gvk
	found, err := p.liveMetadata(gvk, id.Key)
	if err != nil {
		return false, err
	}
	if found == nil || managedfields.Entry(found.ManagedFields, p.contributor()) == nil {
		return false, nil
	}
	result.UID = found.UID
	if err := p.giveBack(gvk, id.Key, found.UID); err != nil {
		return false, err
	}
	delete(p.memory.children, id)
	return true, nil
}

func (p *pass) giveBack(gvk schema.GroupVersionKind, key types.NamespacedName, uid types.UID) error {
	data, err := content.Body(nil, gvk, key, uid)
	if err != nil {
		return err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(gvk)
	o.Name, o.Namespace = key.Name, key.Namespace
	err = p.engine.client.Patch(p.ctx, o, client.RawPatch(types.ApplyPatchType, data),
		client.FieldOwner(p.contributor()), client.ForceOwnership)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil // the object with our fields does not exist any more
	}
	return err
}
