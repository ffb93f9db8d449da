package pass

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

// LiveMetadata returns nil for an object that does not exist.
func (p *Pass) LiveMetadata(gvk schema.GroupVersionKind, key types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(gvk)
	if err := p.Env.Live.Get(p.Ctx, key, m); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return m, nil
}

// ConfirmAfter is when a pass looks again for an object that is being deleted,
// in case no watch announces that it is gone.
const ConfirmAfter = 5 * time.Second

// HeldAfter is how long finalizers may keep an object that is being deleted before that is reported: most deletions end sooner.
const HeldAfter = 30 * time.Second

// HeldBy returns the finalizers that keep an object whose deletion should have ended, nil if there are none.
func (p *Pass) HeldBy(o metav1.Object) []string {
	if at := o.GetDeletionTimestamp(); at == nil || p.Now.Sub(at.Time) < HeldAfter {
		return nil
	}
	return slices.Clone(o.GetFinalizers())
}

// groupKind is the kind of a group, which no API server knows.
func groupKind(g groupkey.Group) *intent.Kind {
	return &intent.Kind{GVK: g.GetObjectKind().GroupVersionKind(), Namespaced: true}
}

// Block adds a reason why children are kept.
func (p *Pass) Block(reason *apply.PruneBlockedError) {
	p.Result.PruneBlocked = joinBlocked(p.Result.PruneBlocked, reason)
}

// Orphans reports whether the owner is being deleted and its children stay.
func (p *Pass) Orphans() bool {
	if !p.Finalize {
		return false
	}
	p.Env.AnnounceOwner(p.Owner)
	if _, orphaned := p.Env.Orphaned.Load(p.Owner.GetUID()); orphaned {
		return true
	}
	return p.Owner.GetAnnotations()[p.Keys.Orphan] == OrphanValue
}

// IsOwner reports whether the object is the owner itself.
func (p *Pass) IsOwner(id applyset.ObjectID) bool {
	return p.Group == nil && id.GroupKind == p.OwnerKind.GVK.GroupKind() && id.Key == client.ObjectKeyFromObject(p.Owner)
}

// Begin locks the memory of the owner; end releases it.
func (e *Env) Begin(ctx context.Context, owner client.Object, plan *apply.Plan, memory *memory.Owner) (*Pass, error) {
	if owner.GetUID() == "" {
		return nil, fmt.Errorf("owner %s has no UID: it must exist before its children", owner.GetName())
	}
	group, k, err := e.ownerKind(owner)
	if err != nil {
		return nil, fmt.Errorf("owner %s: %w", owner.GetName(), err)
	}
	p := &Pass{
		Ctx: ctx, Env: e, Owner: owner, OwnerKind: k, Group: group, Plan: plan,
		Finalize: owner.GetDeletionTimestamp() != nil,
		Memory:   memory, Now: e.Options.Clock.Now(),
	}
	p.Memory.Mu.Lock()
	p.chooseSet()
	p.AllowPrune = owner.GetAnnotations()[p.Keys.AllowPrune]
	p.Memory.Pass++
	return p, nil
}

func (e *Env) ownerKind(owner client.Object) (groupkey.Group, *intent.Kind, error) {
	if group, ok := owner.(groupkey.Group); ok {
		return group, groupKind(group), nil
	}
	k, err := e.Kinds.OfObject(owner)
	return nil, k, err
}

// End gives back what the pass has read, and releases the memory of the owner.
func (p *Pass) End() {
	for _, c := range p.Children {
		c.Free()
	}
	if p.pool != nil {
		clear(*p.pool)
		p.Env.pool.Put(p.pool)
	}
	p.Memory.Mu.Unlock()
}
