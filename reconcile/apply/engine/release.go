package engine

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/inventory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/write"
)

// plannedRelease is a contribution that is recorded and no longer planned.
type plannedRelease struct {
	id     applyset.ObjectID
	result apply.ObjectResult
	// found is the object as it was looked at, nil if it does not exist.
	found *metav1.PartialObjectMetadata
	// kept reports that it stays recorded, as nobody has looked for it, or as
	// the object is planned in another mode in which the part stays.
	kept bool
	// later reports that the next pass decides about it again.
	later bool
}

// pending reports whether the contribution is not given back yet.
func (r *plannedRelease) pending() bool {
	return r.result.Err != nil || r.result.Verb != apply.VerbNone
}

// stays keeps the part for now.
func (r *plannedRelease) stays() { r.kept, r.result.Verb = true, apply.VerbNone }

// decideReleases decides which contributions are given back.
func (p *pruner) decideReleases(l *look) {
	for _, id := range p.parts(l) {
		m := p.Memory.Children[id]
		planned := m != nil && m.Pass == p.Memory.Pass
		if planned && pass.Partial(m.Mode) && !p.IsOwner(id) {
			continue
		}
		r := &plannedRelease{id: id, kept: planned && p.hasPart(id)}
		r.result.GVK, r.result.Key = schema.GroupVersionKind{Group: id.GroupKind.Group, Kind: id.GroupKind.Kind}, id.Key
		r.result.Verb, r.result.Outcome = apply.VerbNone, apply.Unchanged
		if planned {
			p.releases = append(p.releases, r)
			continue
		}
		p.doubt(l, id.GroupKind)
		if !p.Env.Declared.Allows(id.GroupKind) {
			r.kept = true
			l.unknown[id.GroupKind] = fmt.Errorf("a contribution to %s is recorded, and %s is not declared", id, id.GroupKind)
		} else if err := p.decideRelease(r); errors.Is(err, errBudget) {
			r.kept, l.more = true, true
		} else if err != nil {
			r.result.Reason, r.result.Outcome, r.result.Err = apply.ReasonReadFailed, apply.Failed, fmt.Errorf("give back the contribution: %w", err)
		}
		p.releases = append(p.releases, r)
	}
}

// parts are the objects of which the owner has a part.
func (p *pruner) parts(l *look) []applyset.ObjectID {
	if p.Group == nil {
		return inventory.Recorded(p.Pass).Contributions
	}
	return p.groupParts(l)
}

// hasPart reports whether a child that is planned in another mode may still
// have fields under the manager of this owner alone.
func (p *pruner) hasPart(id applyset.ObjectID) bool {
	for _, c := range p.Children {
		if c.ID == id {
			return c.Live == nil || managedfields.Entry(c.Live.GetManagedFields(), p.Contributor()) != nil
		}
	}
	return true
}

// keepsPart reports whether a part stays recorded that is to be looked at again:
// its object is planned in another mode and has not become that yet, or nobody
// else has a part of it any more. What a group keeps is not to be forgotten,
// either.
func (p *pruner) keepsPart() bool {
	return slices.ContainsFunc(p.releases, func(r *plannedRelease) bool {
		m := p.Memory.Children[r.id]
		return r.kept && (p.Group != nil || r.later || (m != nil && m.Pass == p.Memory.Pass))
	})
}

func (p *pruner) decideRelease(r *plannedRelease) error {
	r.result.Reason = apply.ReasonMissing
	mapping, err := p.Env.Client.RESTMapper().RESTMapping(r.id.GroupKind)
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
	found, err := p.LiveMetadata(mapping.GroupVersionKind, r.id.Key)
	if err != nil || found == nil {
		return err
	}
	r.result.UID, r.found = found.UID, found
	if r.has(p.Contributor()) {
		r.result.Verb, r.result.Reason = apply.VerbRelease, apply.ReasonNotPlanned
	}
	if r.result.Verb == apply.VerbRelease && ownership.GoesWithPart(p.Pass, found) {
		r.result.Verb, r.result.HoldsData = apply.VerbPrune, p.Env.HoldsData(r.id.GroupKind)
	}
	return nil
}

// keptReleases are the contributions that stay recorded although nothing is to
// be done about them.
func (p *pruner) keptReleases() []applyset.ObjectID {
	var kept []applyset.ObjectID
	for _, r := range p.releases {
		if r.kept {
			kept = append(kept, r.id)
		}
	}
	return kept
}

// releaseAll gives the contributions back. It returns those that could not be.
func (p *pruner) releaseAll() []applyset.ObjectID {
	var kept []applyset.ObjectID
	for _, r := range p.releases {
		if r.result.Verb != apply.VerbNone {
			p.release(r)
		}
		if r.result.Err != nil || r.kept {
			kept = append(kept, r.id)
		}
		if r.result.Err != nil || r.result.Verb != apply.VerbNone {
			p.Result.Objects = append(p.Result.Objects, r.result)
		}
	}
	return kept
}

// release takes this owner's part out of an object, and deletes one that was
// shared and is nobody's then. It acts on the version that was looked at: an
// owner that comes or goes meanwhile makes it look again. An object that would
// only now go with the part is left to the next pass, which guards it.
func (p *pruner) release(r *plannedRelease) {
	outcome, err := p.giveBack(r)
	for tries := 1; apierrors.IsConflict(err) && tries < write.MaxTries; tries++ {
		var found *metav1.PartialObjectMetadata
		if found, err = p.LiveMetadata(r.result.GVK, r.id.Key); err != nil {
			break
		}
		if r.found = found; !r.has(p.Contributor()) {
			outcome = apply.Unchanged // gone or replaced, and our fields with it
			break
		}
		if r.result.Verb == apply.VerbRelease && ownership.GoesWithPart(p.Pass, found) {
			r.kept, r.later = true, true
			p.Requeue(pass.ConfirmAfter)
			return
		}
		outcome, err = p.giveBack(r)
	}
	if err != nil {
		r.result.Outcome, r.result.Err = apply.Failed, fmt.Errorf("give back the contribution: %w", err)
		return
	}
	r.result.Outcome = outcome
	delete(p.Memory.Children, r.id)
}

// has reports whether the object that was looked at is the one that is meant
// and has fields of the manager.
func (r *plannedRelease) has(manager string) bool {
	return r.found != nil && r.found.UID == r.result.UID && managedfields.Entry(r.found.ManagedFields, manager) != nil
}

func (p *pruner) giveBack(r *plannedRelease) (apply.Outcome, error) {
	if ownership.GoesWithPart(p.Pass, r.found) {
		return apply.Pruned, p.Env.DeleteExactly(p.Ctx, r.result.GVK, r.id.Key, r.found.UID, r.found.ResourceVersion, "")
	}
	// An apply of nothing removes what this owner owns alone.
	data, err := content.PinnedBody(nil, r.result.GVK, r.id.Key, r.found.UID, r.found.ResourceVersion)
	if err != nil {
		return apply.Failed, err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(r.result.GVK)
	o.Name, o.Namespace = r.id.Key.Name, r.id.Key.Namespace
	err = p.Env.Client.Patch(p.Ctx, o, client.RawPatch(types.ApplyPatchType, data),
		client.FieldOwner(p.Contributor()), client.ForceOwnership)
	return apply.Released, client.IgnoreNotFound(err)
}
