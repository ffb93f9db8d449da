package apply

import (
	"errors"
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

// plannedRelease is a contribution that is recorded and no longer planned.
type plannedRelease struct {
	id     applyset.ObjectID
	result ObjectResult
	// kept says that it stays recorded, as nobody has looked for it.
	kept bool
}

// pending reports whether the contribution is not given back yet.
func (r *plannedRelease) pending() bool { return r.result.Err != nil || r.result.Verb == VerbRelease }

// decideReleases decides which contributions are given back.
func (p *pass) decideReleases(l *look) {
	for _, id := range p.recorded().Contributions {
		if m := p.memory.children[id]; m != nil && m.pass == p.memory.pass && m.mode == Contribute {
			continue
		}
		r := &plannedRelease{id: id}
		r.result.GVK, r.result.Key = schema.GroupVersionKind{Group: id.GroupKind.Group, Kind: id.GroupKind.Kind}, id.Key
		r.result.Verb, r.result.Outcome = VerbNone, Unchanged
		if !p.engine.declared.allows(id.GroupKind) {
			r.kept = true
			l.unknown[id.GroupKind] = fmt.Errorf("a contribution to %s is recorded, and %s is not declared", id, id.GroupKind)
		} else if err := p.decideRelease(r); errors.Is(err, errBudget) {
			r.kept, l.more = true, true
		} else if err != nil {
			r.result.Reason, r.result.Outcome, r.result.Err = ReasonReadFailed, Failed, fmt.Errorf("give back the contribution: %w", err)
		}
		p.pruning.releases = append(p.pruning.releases, r)
	}
}

func (p *pass) decideRelease(r *plannedRelease) error {
	r.result.Reason = ReasonMissing
	mapping, err := p.engine.client.RESTMapper().RESTMapping(r.id.GroupKind)
	if meta.IsNoMatchError(err) {
		return nil // the kind is gone, and its objects with it
	}
	if err != nil {
		return err
	}
	r.result.GVK = mapping.GroupVersionKind
	if err := p.spend(); err != nil {
		return err
	}
	found, err := p.liveMetadata(mapping.GroupVersionKind, r.id.Key)
	if err != nil || found == nil {
		return err
	}
	r.result.UID = found.UID
	if managedfields.Entry(found.ManagedFields, p.contributor()) != nil {
		r.result.Verb, r.result.Reason = VerbRelease, ReasonNotPlanned
	}
	return nil
}

// keptReleases are the contributions that stay recorded although nothing is to
// be done about them.
func (p *pass) keptReleases() []applyset.ObjectID {
	var kept []applyset.ObjectID
	for _, r := range p.pruning.releases {
		if r.kept {
			kept = append(kept, r.id)
		}
	}
	return kept
}

// releaseAll gives the contributions back. It returns those that could not be.
func (p *pass) releaseAll() []applyset.ObjectID {
	var kept []applyset.ObjectID
	for _, r := range p.pruning.releases {
		if r.result.Verb == VerbRelease {
			p.release(r)
		}
		if r.result.Err != nil || r.kept {
			kept = append(kept, r.id)
		}
		if r.result.Err != nil || r.result.Verb != VerbNone {
			p.result.Objects = append(p.result.Objects, r.result)
		}
	}
	return kept
}

// release applies nothing under the owner's own manager, which removes what it
// owns alone. The UID keeps that from creating an object, or from touching one
// that has taken the place.
func (p *pass) release(r *plannedRelease) {
	if err := p.giveBack(r.result.GVK, r.id.Key, r.result.UID); err != nil {
		r.result.Outcome, r.result.Err = Failed, fmt.Errorf("give back the contribution: %w", err)
		return
	}
	r.result.Outcome = Released
	delete(p.memory.children, r.id)
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
	if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return err
	}
	// Either the object is gone or replaced, and our fields with it, or somebody has written to it at the same time.
	found, lookErr := p.liveMetadata(gvk, key)
	if lookErr != nil {
		return errors.Join(err, lookErr)
	}
	if found == nil || found.UID != uid || managedfields.Entry(found.ManagedFields, p.contributor()) == nil {
		return nil
	}
	return err
}
