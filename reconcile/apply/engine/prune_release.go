package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// plannedRelease is a recorded contribution that left the plan.
type plannedRelease struct {
	id applyset.ObjectID
	// memory is what the engine remembers of the object, nil for nothing.
	memory *memory.Child
	result apply.ObjectResult
	// found is the object that was read, nil if it does not exist.
	found *metav1.PartialObjectMetadata
	// looked is the time of the read.
	looked time.Time
	// kept reports that the contribution stays recorded, because the object was not read, or because it is planned in another mode that
	// keeps the part.
	kept bool
	// unproven reports that the object is shared and no owner of it is known any more. It is kept until the owner's annotation permits its
	// deletion.
	unproven bool
	// later reports that the next pass decides again.
	later bool
}

// pending reports whether the contribution is not given back yet.
func (r *plannedRelease) pending() bool {
	return r.result.Err != nil || r.result.Verb != apply.VerbNone
}

// keep keeps the part for now.
func (r *plannedRelease) keep() { r.kept, r.result.Verb = true, apply.VerbNone }

// observeParts reads the objects in which the owner has a part that is not planned as such.
func (p *pruning) observeParts(l *listing) []observedPart {
	var out []observedPart
	for _, id := range p.parts(l) {
		gk, m := id.GroupKind, p.memory.Children[id]
		planned := m != nil && m.InPass(p.memory.Pass)
		if planned && isPartial(m.Mode()) && !p.isOwner(id) {
			continue
		}
		part := observedPart{
			id: id, gvk: schema.GroupVersionKind{Group: gk.Group, Kind: gk.Kind}, memory: m, planned: planned, hasPart: planned && p.hasPart(id),
		}
		if !planned && !p.keepsKind(p.plan, gk) {
			p.markUnknown(l, gk)
			if part.undeclared = !p.env.declared.allows(gk); part.undeclared {
				l.unknown[gk] = fmt.Errorf("a contribution to %s is recorded, and %s is not declared", id, gk)
			} else {
				p.readPart(&part)
			}
			l.more = l.more || errors.Is(part.err, errBudget)
		}
		out = append(out, part)
	}
	return out
}

// parts returns the objects in which the owner has a part.
func (p *pruning) parts(l *listing) []applyset.ObjectID {
	if p.group != nil {
		return p.foundParts(l, p.groupKinds())
	}
	recorded := recordedInventory(p.pass).Contributions
	if !p.memory.Metadata.Lost {
		return recorded
	}
	var declared []schema.GroupVersionKind
	for _, use := range []apply.KindUse{apply.KindOwned, apply.KindWritten} {
		for _, k := range p.env.declared.of(use) {
			declared = append(declared, k.GVK)
		}
	}
	// The planned metadata of the owner has a field manager of its own and is no contribution.
	found := append(slices.DeleteFunc(p.foundParts(l, declared), p.isOwner), recorded...)
	slices.SortFunc(found, applyset.CompareIDs)
	return slices.Compact(found)
}

// hasPart reports whether a child that is planned in another mode may still have fields under the manager of this owner alone.
func (p *pruning) hasPart(id applyset.ObjectID) bool {
	for _, c := range p.children {
		if c.id == id {
			return c.live == nil || fieldset.Entry(c.live.GetManagedFields(), p.contributor) != nil
		}
	}
	return true
}

// keepsPart reports whether a part stays recorded for another check: its object is planned in another mode that is not applied yet, or no
// other owner has a part any more. The parts of a group also stay recorded.
func (p *pruning) keepsPart() bool {
	return slices.ContainsFunc(p.releases, func(r *plannedRelease) bool {
		m := p.memory.Children[r.id]
		return r.kept && (p.group != nil || r.later || (m != nil && m.InPass(p.memory.Pass)))
	})
}

// readPart reads the object of a part. It reuses the result of an earlier pass that has recently read the object and left it alone, so that
// a kept part does not cost a request in each pass.
func (p *pruning) readPart(part *observedPart) {
	mapping, err := p.env.client.RESTMapper().RESTMapping(part.id.GroupKind)
	if meta.IsNoMatchError(err) {
		return // the kind is gone, and its objects with it
	}
	if part.err = err; err != nil {
		return
	}
	part.gvk = mapping.GroupVersionKind
	if known, ok := p.memory.Prune.Parts[part.id]; ok && p.now.Sub(known.At) < listingPeriod && !p.finalize {
		part.looked, part.found = known.At, known.Found
		return
	}
	if part.err = p.spend(); part.err == nil {
		part.looked = p.now
		part.found, part.err = p.liveMetadata(part.gvk, part.id.Key)
	}
}

// noteHeldParts remembers the parts that are left alone.
func (p *pruning) noteHeldParts() {
	parts := map[applyset.ObjectID]memory.Part{}
	for _, r := range p.releases {
		if r.kept && !r.later && r.found != nil {
			parts[r.id] = memory.Part{Found: r.found, At: r.looked}
		}
	}
	p.memory.Prune.Parts = parts
}

// keptReleases returns the contributions that stay recorded without an action.
func (p *pruning) keptReleases() []applyset.ObjectID {
	var kept []applyset.ObjectID
	for _, r := range p.releases {
		if r.kept {
			kept = append(kept, r.id)
		}
	}
	return kept
}

// releaseAll gives the contributions back. It returns those that failed.
func (p *pruning) releaseAll() []applyset.ObjectID {
	var kept []applyset.ObjectID
	for _, r := range p.releases {
		if r.result.Verb != apply.VerbNone {
			p.release(r)
		}
		if r.result.Err != nil || r.kept {
			kept = append(kept, r.id)
		}
		if r.result.Err != nil || r.result.Verb != apply.VerbNone {
			p.result.Objects = append(p.result.Objects, r.result)
		}
	}
	return kept
}

// release removes this owner's part from an object, and deletes a shared object that has no other part. The request is pinned to the
// version that was read, so that a change of the other parts causes another read. If the object has become due for deletion only now,
// release leaves it to the next pass, which guards the deletion.
func (p *pruning) release(r *plannedRelease) {
	outcome, err := p.giveBack(r)
	for tries := 1; apierrors.IsConflict(err) && tries < maxTries; tries++ {
		var found *metav1.PartialObjectMetadata
		if found, err = p.liveMetadata(r.result.GVK, r.id.Key); err != nil {
			break
		}
		if r.found = found; !r.has(p.contributor) {
			outcome = apply.OutcomeUnchanged // gone or replaced, and our fields with it
			break
		}
		if r.result.Verb == apply.VerbRelease && p.deletedWithPart(found) {
			r.kept, r.later = true, true
			p.requeue(confirmAfter)
			return
		}
		outcome, err = p.giveBack(r)
	}
	if err != nil {
		r.result.Outcome, r.result.Err = apply.OutcomeFailed, fmt.Errorf("give back the contribution: %w", err)
		return
	}
	r.result.Outcome = outcome
	delete(p.memory.Children, r.id)
}

// has reports whether the object that was read is the expected one and has fields of the manager.
func (r *plannedRelease) has(manager string) bool {
	return r.found != nil && r.found.UID == r.result.UID && fieldset.Entry(r.found.ManagedFields, manager) != nil
}
