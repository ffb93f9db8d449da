package engine

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
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// noneLeftOver reports whether all members of the set are known to be planned, without listing them. False means unknown.
func (p *pruning) noneLeftOver() bool {
	if !p.env.options.Announced || p.finalize {
		return false
	}
	recorded := recordedInventory(p.pass)
	if recorded.Garbled() || p.memory.Metadata.Lost || p.hasUnknown(recorded) {
		return false
	}
	for _, m := range p.memory.Children {
		if !m.InPass(p.memory.Pass) {
			return false // it was a child a moment ago
		}
	}
	planned, hashes, set := p.plannedKinds(), p.memberHashes(), p.env.hasher.Text(p.setID)
	for _, gk := range p.searchedKinds(recorded, planned) {
		k, cached := p.cachedKind(gk, planned, recorded)
		if !cached || p.env.newList(k) == nil {
			return false // not in the cache
		}
		found, ok := p.env.leftovers.Scanned(k, set, p.now, p.scanAll)
		if !ok || found != hashes[k] {
			return false
		}
	}
	return true
}

// hasUnknown reports whether the inventory has a kind whose desired state is unknown.
func (p *pruning) hasUnknown(recorded *applyset.Inventory) bool {
	return slices.ContainsFunc(recorded.Kinds, func(gk schema.GroupKind) bool { return p.unknown[gk] != nil })
}

// memberHashes returns the hashes of the planned members that the cache shows.
func (p *pruning) memberHashes() map[*intent.Kind]memory.SetHash {
	out := map[*intent.Kind]memory.SetHash{}
	for _, c := range p.children {
		if c.live == nil || !c.member || c.live.GetLabels()[applyset.PartOfLabel] != p.setID {
			continue
		}
		out[c.kind] ^= memberHash(p.env.hasher, c.live)
	}
	return out
}

// scanAll lists all members of all sets in all namespaces.
func (p *pruning) scanAll(k *intent.Kind) (map[uint64]memory.SetHash, error) {
	list := p.env.newList(k)
	opts := append([]client.ListOption{client.HasLabels{applyset.PartOfLabel}}, p.env.cachedList...)
	if err := p.env.client.List(p.ctx, list, opts...); err != nil {
		return nil, fmt.Errorf("list all %s: %w", k.GVK.GroupKind(), err)
	}
	out := map[uint64]memory.SetHash{}
	err := meta.EachListItem(list, func(o runtime.Object) error {
		m, err := meta.Accessor(o)
		if err != nil {
			return err
		}
		out[p.env.hasher.Text(m.GetLabels()[applyset.PartOfLabel])] ^= memberHash(p.env.hasher, m)
		return nil
	})
	return out, err
}

// memberHash returns the hash of an object's identity.
func memberHash(h *intent.Hasher, o metav1.Object) memory.SetHash {
	return memory.SetHash(h.Sum(func(s *maphash.Hash) {
		content.WriteString(s, o.GetNamespace())
		content.WriteString(s, o.GetName())
		content.WriteString(s, string(o.GetUID()))
	}))
}
