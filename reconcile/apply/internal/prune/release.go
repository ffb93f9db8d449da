package prune

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/inventory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/write"
)

// Pending reports whether the contribution is not given back yet.
func (r *plannedRelease) Pending() bool {
	return r.Result.Err != nil || r.Result.Verb != apply.VerbNone
}

// stays keeps the part for now.
func (r *plannedRelease) stays() { r.kept, r.Result.Verb = true, apply.VerbNone }

// decideReleases decides which contributions are given back.
func (p *Prune) decideReleases(l *listing) {
	for _, id := range p.parts(l) {
		m := p.Memory.Children[id]
		planned := m != nil && m.InPass(p.Memory.Pass)
		if planned && pass.Partial(m.Mode()) && !p.IsOwner(id) {
			continue
		}
		r := &plannedRelease{id: id, kept: planned && p.hasPart(id)}
		r.Result.GVK, r.Result.Key = schema.GroupVersionKind{Group: id.GroupKind.Group, Kind: id.GroupKind.Kind}, id.Key
		r.Result.Verb, r.Result.Outcome = apply.VerbNone, apply.OutcomeUnchanged
		if planned || p.KeepsKind(id.GroupKind) {
			r.kept = r.kept || !planned
			p.Releases = append(p.Releases, r)
			continue
		}
		p.markUnknown(l, id.GroupKind)
		if !p.Env.Declared.Allows(id.GroupKind) {
			r.kept = true
			l.unknown[id.GroupKind] = fmt.Errorf("a contribution to %s is recorded, and %s is not declared", id, id.GroupKind)
		} else if err := p.decideRelease(r); errors.Is(err, errBudget) {
			r.kept, l.more = true, true
		} else if err != nil {
			r.Result.Reason, r.Result.Outcome, r.Result.Err = apply.ReasonReadFailed, apply.OutcomeFailed, fmt.Errorf("give back the contribution: %w", err)
		}
		p.Releases = append(p.Releases, r)
	}
}

// parts are the objects of which the owner has a part.
func (p *Prune) parts(l *listing) []applyset.ObjectID {
	if p.Group != nil {
		return p.foundParts(l, p.groupKinds())
	}
	recorded := inventory.Recorded(p.Pass).Contributions
	if !p.Memory.Metadata.Lost {
		return recorded
	}
	var declared []schema.GroupVersionKind
	for _, use := range []apply.KindUse{apply.KindOwned, apply.KindWritten} {
		for _, k := range p.Env.Declared.Of(use) {
			declared = append(declared, k.GVK)
		}
	}
	// What is planned of the owner's own metadata is under a manager of its own and is no contribution.
	found := append(slices.DeleteFunc(p.foundParts(l, declared), p.IsOwner), recorded...)
	slices.SortFunc(found, applyset.CompareIDs)
	return slices.Compact(found)
}

// hasPart reports whether a child that is planned in another mode may still
// have fields under the manager of this owner alone.
func (p *Prune) hasPart(id applyset.ObjectID) bool {
	for _, c := range p.Children {
		if c.ID == id {
			return c.Live == nil || fieldset.Entry(c.Live.GetManagedFields(), p.Contributor()) != nil
		}
	}
	return true
}

// keepsPart reports whether a part stays recorded that is to be looked at again:
// its object is planned in another mode and has not become that yet, or nobody
// else has a part of it any more. What a group keeps is not to be forgotten,
// either.
func (p *Prune) keepsPart() bool {
	return slices.ContainsFunc(p.Releases, func(r *plannedRelease) bool {
		m := p.Memory.Children[r.id]
		return r.kept && (p.Group != nil || r.later || (m != nil && m.InPass(p.Memory.Pass)))
	})
}

func (p *Prune) decideRelease(r *plannedRelease) error {
	r.Result.Reason = apply.ReasonMissing
	mapping, err := p.Env.Client.RESTMapper().RESTMapping(r.id.GroupKind)
	if meta.IsNoMatchError(err) {
		return nil // the kind is gone, and its objects with it
	}
	if err != nil {
		return err
	}
	r.Result.GVK = mapping.GroupVersionKind
	found, err := p.lookAt(r)
	if err != nil || found == nil {
		return err
	}
	r.Result.UID, r.found = found.UID, found
	if r.has(p.Contributor()) {
		r.Result.Verb, r.Result.Reason = apply.VerbRelease, apply.ReasonNotPlanned
	}
	if r.Result.Verb == apply.VerbRelease && ownership.GoesWithPart(p.Pass, found) {
		r.Result.Verb, r.Result.HoldsData = apply.VerbPrune, p.Env.HoldsData(r.id.GroupKind)
	}
	return nil
}

// lookAt reads the object of a part, unless an earlier pass has looked at it and
// left it alone a moment ago: what is kept costs no request in each pass.
func (p *Prune) lookAt(r *plannedRelease) (*metav1.PartialObjectMetadata, error) {
	if part, ok := p.Memory.Prune.Parts[r.id]; ok && p.Now.Sub(part.At) < listingPeriod && !p.Finalize {
		r.looked = part.At
		return part.Found, nil
	}
	if err := p.spend(); err != nil {
		return nil, err
	}
	r.looked = p.Now
	return p.LiveMetadata(r.Result.GVK, r.id.Key)
}

// noteHeldParts remembers the parts that are left alone.
func (p *Prune) noteHeldParts() {
	parts := map[applyset.ObjectID]memory.Part{}
	for _, r := range p.Releases {
		if r.kept && !r.later && r.found != nil {
			parts[r.id] = memory.Part{Found: r.found, At: r.looked}
		}
	}
	p.Memory.Prune.Parts = parts
}

// keptReleases are the contributions that stay recorded although nothing is to
// be done about them.
func (p *Prune) keptReleases() []applyset.ObjectID {
	var kept []applyset.ObjectID
	for _, r := range p.Releases {
		if r.kept {
			kept = append(kept, r.id)
		}
	}
	return kept
}

// releaseAll gives the contributions back. It returns those that could not be.
func (p *Prune) releaseAll() []applyset.ObjectID {
	var kept []applyset.ObjectID
	for _, r := range p.Releases {
		if r.Result.Verb != apply.VerbNone {
			p.release(r)
		}
		if r.Result.Err != nil || r.kept {
			kept = append(kept, r.id)
		}
		if r.Result.Err != nil || r.Result.Verb != apply.VerbNone {
			p.Result.Objects = append(p.Result.Objects, r.Result)
		}
	}
	return kept
}

// release takes this owner's part out of an object, and deletes one that was
// shared and is nobody's then. It acts on the version that was looked at: an
// owner that comes or goes meanwhile makes it look again. An object that would
// only now go with the part is left to the next pass, which guards it.
func (p *Prune) release(r *plannedRelease) {
	outcome, err := p.giveBack(r)
	for tries := 1; apierrors.IsConflict(err) && tries < write.MaxTries; tries++ {
		var found *metav1.PartialObjectMetadata
		if found, err = p.LiveMetadata(r.Result.GVK, r.id.Key); err != nil {
			break
		}
		if r.found = found; !r.has(p.Contributor()) {
			outcome = apply.OutcomeUnchanged // gone or replaced, and our fields with it
			break
		}
		if r.Result.Verb == apply.VerbRelease && ownership.GoesWithPart(p.Pass, found) {
			r.kept, r.later = true, true
			p.Requeue(pass.ConfirmAfter)
			return
		}
		outcome, err = p.giveBack(r)
	}
	if err != nil {
		r.Result.Outcome, r.Result.Err = apply.OutcomeFailed, fmt.Errorf("give back the contribution: %w", err)
		return
	}
	r.Result.Outcome = outcome
	delete(p.Memory.Children, r.id)
}

// has reports whether the object that was looked at is the one that is meant
// and has fields of the manager.
func (r *plannedRelease) has(manager string) bool {
	return r.found != nil && r.found.UID == r.Result.UID && fieldset.Entry(r.found.ManagedFields, manager) != nil
}
