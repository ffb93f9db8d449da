package prune

import (
	"fmt"
	"hash/maphash"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/inventory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// noneLeftOver reports whether it is certain that all members of the set are planned, without
// a walk of its own over the cache. False leaves it open.
func (p *Prune) noneLeftOver() bool {
	if !p.Env.Options.Announced || p.Finalize {
		return false
	}
	recorded := inventory.Recorded(p.Pass)
	if recorded.Garbled() || p.Memory.Metadata.Lost || p.hasUnknown(recorded) {
		return false
	}
	for _, m := range p.Memory.Children {
		if !m.InPass(p.Memory.Pass) {
			return false // it was ours a moment ago
		}
	}
	planned, hashes, set := p.plannedKinds(), p.memberHashes(), p.Env.Hasher.Text(p.SetID)
	for _, gk := range p.searchedKinds(recorded, planned) {
		k, cached := p.cachedKind(gk, planned, recorded)
		if !cached || p.Env.NewList(k) == nil {
			return false // not in the cache
		}
		found, ok := p.Env.Leftovers.Scanned(k, set, p.Now, p.scanAll)
		if !ok || found != hashes[k] {
			return false
		}
	}
	return true
}

// hasUnknown reports whether the inventory has a kind of which it is not known
// what is wanted.
func (p *Prune) hasUnknown(recorded *applyset.Inventory) bool {
	return slices.ContainsFunc(recorded.Kinds, func(gk schema.GroupKind) bool { return p.Unknown[gk] != nil })
}

// memberHashes are the planned members that the cache shows.
func (p *Prune) memberHashes() map[*intent.Kind]memory.SetHash {
	out := map[*intent.Kind]memory.SetHash{}
	for _, c := range p.Children {
		if c.Live == nil || !c.Member || c.Live.GetLabels()[applyset.PartOfLabel] != p.SetID {
			continue
		}
		out[c.Kind] ^= member(p.Env.Hasher, c.Live)
	}
	return out
}

// scanAll walks over all members of all sets, in all namespaces.
func (p *Prune) scanAll(k *intent.Kind) (map[uint64]memory.SetHash, error) {
	list := p.Env.NewList(k)
	opts := append([]client.ListOption{client.HasLabels{applyset.PartOfLabel}}, p.Env.CachedList...)
	if err := p.Env.Client.List(p.Ctx, list, opts...); err != nil {
		return nil, fmt.Errorf("list all %s: %w", k.GVK.GroupKind(), err)
	}
	out := map[uint64]memory.SetHash{}
	err := meta.EachListItem(list, func(o runtime.Object) error {
		m, err := meta.Accessor(o)
		if err != nil {
			return err
		}
		out[p.Env.Hasher.Text(m.GetLabels()[applyset.PartOfLabel])] ^= member(p.Env.Hasher, m)
		return nil
	})
	return out, err
}

// member is the hash of an object's identity.
func member(h *intent.Hasher, o metav1.Object) memory.SetHash {
	return memory.SetHash(h.Sum(func(s *maphash.Hash) {
		content.WriteString(s, o.GetNamespace())
		content.WriteString(s, o.GetName())
		content.WriteString(s, string(o.GetUID()))
	}))
}
