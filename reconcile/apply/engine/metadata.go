package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// recorded returns where children of the owner may be: what its metadata says,
// with our own last write counting more than an owner from a cache that lags
// behind it, and what this process knows although somebody has taken it off.
func (p *pass) recorded() *applyset.Inventory {
	if p.group != nil {
		return groupInventory(p.group)
	}
	m := &p.memory.Metadata
	version := p.owner.GetResourceVersion()
	if m.Known != nil && (m.Version == version || freshness.Older(version, m.Written)) {
		return m.Known
	}
	inv := p.engine.readInventory(p.owner, p.keys)
	switch {
	case m.Known == nil:
		had := p.hasChildren()
		m.Fresh = inv.Empty() && !inv.Finalizer && !had
		m.Lost = (inv.Empty() && had) || inv.Garbled()
		m.Known = inv
	case !m.Stored.Equal(inv):
		m.Covered, p.memory.Prune.Clean = false, false // somebody has changed it
		known := m.Known.Merge(inv)
		known.Finalizer = inv.Finalizer
		m.Known = known
	}
	m.Stored, m.Version = inv, version
	return m.Known
}

// hasChildren reports whether planned objects exist that are marked as members
// of the owner's set.
func (p *pass) hasChildren() bool {
	return slices.ContainsFunc(p.children, func(c *planned) bool {
		return c.kind != nil && c.member() && c.live != nil && c.live.GetLabels()[apply.PartOfLabel] == p.id
	})
}

// decideInventory decides what has to be recorded before anything is written.
// At steady state it compares two numbers.
func (p *pass) decideInventory() {
	if p.group != nil {
		return // there is nothing to record it on
	}
	recorded := p.recorded()
	m := &p.memory.Metadata
	if m.Covered && m.Identity == p.identity {
		return
	}
	wanted := recorded.Merge(p.plannedInventory())
	if p.finalize {
		wanted.Finalizer = recorded.Finalizer // the server takes no new one now
		wanted.Orphan = recorded.Finalizer && p.orphans()
	}
	if m.Fresh && p.keepsGeneration() {
		wanted.Generation = p.owner.GetGeneration()
	}
	if !wanted.Equal(m.Stored) {
		p.wants(wanted)
	}
}

// wants decides to record another inventory on the owner.
func (p *pass) wants(inv *applyset.Inventory) {
	p.wanted = inv
	p.announce()
}

// announce says in the result that the metadata of the owner is written.
func (p *pass) announce() {
	p.result.Owner = &apply.Decision{
		GVK: p.ownerKind.GVK, Key: client.ObjectKeyFromObject(p.owner), UID: p.owner.GetUID(),
		Verb: apply.VerbRecord, Reason: apply.ReasonInventory,
	}
}

// grow records what the plan needs before anything is written.
func (p *pass) grow() error {
	if p.group != nil {
		return nil
	}
	if p.wanted != nil {
		if err := p.record(p.wanted); err != nil {
			return fmt.Errorf("record the inventory: %w", err)
		}
	}
	m := &p.memory.Metadata
	m.Covered, m.Identity = true, p.identity
	return nil
}

// record writes the inventory to the owner, in the version that was read. One
// conflict is met by reading the metadata anew.
func (p *pass) record(inv *applyset.Inventory) error {
	version, current := p.owner.GetResourceVersion(), metav1.Object(p.owner)
	if m := &p.memory.Metadata; freshness.Older(version, m.Written) {
		version = m.Written
	}
	answer, err := p.patchOwner(inv, version, current)
	if apierrors.IsConflict(err) {
		found, readErr := p.liveMetadata(p.ownerKind.GVK, client.ObjectKeyFromObject(p.owner))
		if readErr != nil || found == nil || found.UID != p.owner.GetUID() {
			return err
		}
		if m := p.memory.Sets; p.engine.usesOwnSet(found, m.UsesOwn) != m.UsesOwn {
			return fmt.Errorf("%w: %w", errSetTaken, err)
		}
		version = found.ResourceVersion
		answer, err = p.patchOwner(inv, version, found)
	}
	if err != nil {
		return err
	}
	m := &p.memory.Metadata
	m.Replaced, m.Written = version, answer.ResourceVersion
	m.Stored, m.Known, m.Version = inv, inv, answer.ResourceVersion
	p.owner.SetLabels(answer.Labels)
	p.owner.SetAnnotations(answer.Annotations)
	p.owner.SetFinalizers(answer.Finalizers)
	p.owner.SetManagedFields(answer.ManagedFields)
	p.owner.SetResourceVersion(answer.ResourceVersion)
	return nil
}

func (p *pass) patchOwner(inv *applyset.Inventory, version string, current metav1.Object) (*metav1.PartialObjectMetadata, error) {
	metadata := map[string]any{"uid": p.owner.GetUID(), "resourceVersion": version}
	if has := slices.Contains(current.GetFinalizers(), p.engine.opts.Finalizer); has != inv.Finalizer {
		off := []string{p.engine.opts.Finalizer}
		if !inv.Finalizer {
			off = append(off, p.productFinalizers(current)...)
		}
		changed := slices.DeleteFunc(slices.Clone(current.GetFinalizers()), func(f string) bool { return slices.Contains(off, f) })
		if inv.Finalizer {
			changed = append(changed, p.engine.opts.Finalizer)
		}
		metadata["finalizers"] = changed
	}
	annotations := map[string]any{
		p.keys.Kinds:         orNull(joined(applyset.FormatGroupKinds(inv.Kinds), inv.UnreadableKinds)),
		p.keys.Namespaces:    orNull(applyset.FormatNames(inv.Namespaces)),
		p.keys.Contributions: orNull(joined(applyset.FormatContributions(inv.Contributions), inv.UnreadableContributions)),
		p.keys.Generation:    nil,
		p.keys.Tooling:       p.engine.tooling(),
		p.keys.AllowPrune:    orNull(p.allowPrune),
		p.keys.Orphan:        nil,
	}
	if inv.Orphan {
		annotations[p.keys.Orphan] = orphanValue
	}
	if inv.Generation > 0 {
		annotations[p.keys.Generation] = strconv.FormatInt(inv.Generation, 10)
	}
	metadata["annotations"] = annotations
	metadata["labels"] = map[string]any{p.keys.ID: p.id}
	if inv.Empty() {
		annotations[p.keys.Tooling] = nil
		metadata["labels"] = map[string]any{p.keys.ID: nil}
	}
	data, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(p.ownerKind.GVK)
	o.Name, o.Namespace = p.owner.GetName(), p.owner.GetNamespace()
	err = p.engine.client.Patch(p.ctx, o, client.RawPatch(types.MergePatchType, data),
		client.FieldOwner(p.engine.ownerManager()))
	return o, err
}

// joined adds items that could not be read to a list.
func joined(list string, unreadable []string) string {
	if list != "" {
		unreadable = append([]string{list}, unreadable...)
	}
	return strings.Join(unreadable, ",")
}

// orNull makes an empty value delete the annotation.
func orNull(value string) any {
	if strings.TrimSpace(value) == "" {
		return nil
	}
	return value
}
