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

// metadataMemory is what is remembered about the metadata of an owner.
type metadataMemory struct {
	// written is the resourceVersion after our last write of the metadata,
	// replaced the one before it.
	written, replaced string
	// stored is the inventory as last read or written, version the
	// resourceVersion of the owner it was read from. known is what this process
	// knows besides: somebody may have taken it off the owner.
	stored, known *applyset.Inventory
	version       string
	// identity of the plan whose inventory was covered by stored; covered
	// says that it is one.
	identity uint64
	covered  bool
	// fresh reports that the first pass found neither an inventory nor a child, so
	// that all members are ours to know.
	fresh bool
	// lost reports that the inventory was missing, or not readable, at the first
	// pass of this process although the owner has had children.
	lost bool
	// speaks reports that the owner's status tells which generation it is about.
	speaks bool
}

// recorded returns where children of the owner may be: what its metadata says,
// with our own last write counting more than an owner from a cache that lags
// behind it, and what this process knows although somebody has taken it off.
func (p *pass) recorded() *applyset.Inventory {
	if p.group != nil {
		return groupInventory(p.group)
	}
	m := &p.memory.metadata
	version := p.owner.GetResourceVersion()
	if m.known != nil && (m.version == version || freshness.Older(version, m.written)) {
		return m.known
	}
	inv := p.engine.readInventory(p.owner, p.keys)
	switch {
	case m.known == nil:
		had := p.hasChildren()
		m.fresh = inv.Empty() && !inv.Finalizer && !had
		m.lost = (inv.Empty() && had) || inv.Garbled()
		m.known = inv
	case !m.stored.Equal(inv):
		m.covered, p.memory.prune.clean = false, false // somebody has changed it
		known := m.known.Merge(inv)
		known.Finalizer = inv.Finalizer
		m.known = known
	}
	m.stored, m.version = inv, version
	return m.known
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
	m := &p.memory.metadata
	if m.covered && m.identity == p.identity {
		return
	}
	wanted := recorded.Merge(p.plannedInventory())
	if p.finalize {
		wanted.Finalizer = recorded.Finalizer // the server takes no new one now
		wanted.Orphan = recorded.Finalizer && p.orphans()
	}
	if m.fresh && p.keepsGeneration() {
		wanted.Generation = p.owner.GetGeneration()
	}
	if !wanted.Equal(m.stored) {
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
		GVK: p.ownerKind.gvk, Key: client.ObjectKeyFromObject(p.owner), UID: p.owner.GetUID(),
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
	m := &p.memory.metadata
	m.covered, m.identity = true, p.identity
	return nil
}

// record writes the inventory to the owner, in the version that was read. One
// conflict is met by reading the metadata anew.
func (p *pass) record(inv *applyset.Inventory) error {
	version, current := p.owner.GetResourceVersion(), metav1.Object(p.owner)
	if m := &p.memory.metadata; freshness.Older(version, m.written) {
		version = m.written
	}
	answer, err := p.patchOwner(inv, version, current)
	if apierrors.IsConflict(err) {
		found, readErr := p.liveMetadata(p.ownerKind.gvk, client.ObjectKeyFromObject(p.owner))
		if readErr != nil || found == nil || found.UID != p.owner.GetUID() {
			return err
		}
		if m := p.memory.sets; p.engine.usesOwnSet(found, m.usesOwn) != m.usesOwn {
			return fmt.Errorf("%w: %w", errSetTaken, err)
		}
		version = found.ResourceVersion
		answer, err = p.patchOwner(inv, version, found)
	}
	if err != nil {
		return err
	}
	m := &p.memory.metadata
	m.replaced, m.written = version, answer.ResourceVersion
	m.stored, m.known, m.version = inv, inv, answer.ResourceVersion
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
	o.SetGroupVersionKind(p.ownerKind.gvk)
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
