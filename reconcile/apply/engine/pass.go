package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// pass is the state of one [Engine.Apply].
type pass struct {
	facts
	ctx      context.Context //nolint:containedctx // lives as long as the call
	env      *env
	plan     *apply.Plan
	memory   *memory.Owner
	children []*child
	// ownerChild is the planned metadata of the owner, nil for none.
	ownerChild *child
	pool       *[]child // the storage of children, released at the end
	// identity is the hash of the planned objects, their modes, and whether the owner is held.
	identity uint64
	// order has what is planned with After, nil for nothing; moved are the planned deletions that are children while they wait, by their
	// index in the plan.
	order *order
	moved map[int]*apply.Deletion
	// incomplete is the reason why the planned objects are not all known; unknown are the reasons for single kinds.
	incomplete error
	unknown    map[schema.GroupKind]error
	// The other decisions of the pass: the deletions, and the inventory to record before anything is written, nil if it is unchanged.
	deletions []*deletion
	wanted    *applyset.Inventory
	restored  restored
	result    apply.Result
}

// liveMetadata reads the metadata from the API server. It returns nil for an object that does not exist.
func (p *pass) liveMetadata(gvk schema.GroupVersionKind, key types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(gvk)
	if err := p.env.live.Get(p.ctx, key, m); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return m, nil
}

// confirmAfter is the interval at which a pass checks an object that is being deleted, in case no watch reports that it is gone.
const confirmAfter = 5 * time.Second

// heldAfter is how long finalizers may keep an object that is being deleted before the engine reports them. Most deletions take less time.
const heldAfter = 30 * time.Second

// heldBy returns the finalizers of an object whose deletion is overdue, nil if there are none.
func (p *pass) heldBy(o metav1.Object) []string {
	if at := o.GetDeletionTimestamp(); at == nil || p.now.Sub(at.Time) < heldAfter {
		return nil
	}
	return slices.Clone(o.GetFinalizers())
}

// groupKind returns the kind of a group, which no API server serves.
func groupKind(g groupkey.Group) *intent.Kind {
	return &intent.Kind{GVK: g.GetObjectKind().GroupVersionKind(), Namespaced: true}
}

// block adds a reason why children are kept.
func (p *pass) block(reason *apply.PruneBlockedError) {
	p.result.PruneBlocked = joinBlocked(p.result.PruneBlocked, reason)
}

// orphans reports whether the owner is being deleted and its children stay.
func (p *pass) orphans() bool {
	if !p.finalize {
		return false
	}
	p.env.announceOwner(p.owner)
	if _, orphaned := p.env.orphaned.Load(p.owner.GetUID()); orphaned {
		return true
	}
	return p.owner.GetAnnotations()[p.keys.Orphan] == orphanValue
}

// isOwner reports whether the object is the owner itself.
func (p *pass) isOwner(id applyset.ObjectID) bool {
	return p.group == nil && id.GroupKind == p.ownerKind.GVK.GroupKind() && id.Key == client.ObjectKeyFromObject(p.owner)
}

// begin starts a pass and locks the memory of the owner; end releases it.
func (e *env) begin(ctx context.Context, owner client.Object, plan *apply.Plan, memory *memory.Owner) (*pass, error) {
	if owner.GetUID() == "" {
		return nil, fmt.Errorf("owner %s has no UID: it must exist before its children", owner.GetName())
	}
	group, k, err := e.ownerKind(owner)
	if err != nil {
		return nil, fmt.Errorf("owner %s: %w", owner.GetName(), err)
	}
	p := &pass{ctx: ctx, env: e, plan: plan, memory: memory, facts: facts{
		config: &e.config, owner: owner, ownerKind: k, group: group, finalize: owner.GetDeletionTimestamp() != nil, now: e.options.Clock.Now(),
	}}
	p.memory.Mu.Lock()
	p.chooseSet()
	p.contributor = e.contributorOf(owner, memory)
	p.allowPrune = owner.GetAnnotations()[p.keys.AllowPrune]
	p.memory.Pass++
	return p, nil
}

func (e *env) ownerKind(owner client.Object) (groupkey.Group, *intent.Kind, error) {
	if group, ok := owner.(groupkey.Group); ok {
		return group, groupKind(group), nil
	}
	k, err := e.kinds.OfObject(owner)
	return nil, k, err
}

// end releases the objects of the pass and unlocks the memory of the owner.
func (p *pass) end() {
	for _, c := range p.children {
		c.free()
	}
	if p.pool != nil {
		clear(*p.pool)
		p.env.pool.Put(p.pool)
	}
	p.memory.Mu.Unlock()
}
