package engine

import (
	"encoding/json"
	"errors"
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

var (
	errSetTaken = errors.New("another controller has recorded its children on the owner meanwhile")
	errDeleted  = errors.New("the owner is being deleted, which the cache does not show yet")
)

// recordedInventory returns the kinds and namespaces that may have children of the owner. It merges the owner's metadata, the engine's
// last write if the cached owner is older, and entries that this process knows although they were removed from the owner.
func recordedInventory(p *pass) *applyset.Inventory {
	if p.group != nil {
		return groupInventory(p.group)
	}
	m := &p.memory.Metadata
	owner := metav1.Object(p.owner)
	if m.Known != nil && m.Version != owner.GetResourceVersion() && m.Written.HiddenBy(p.owner) {
		owner = readLaggingOwner(p)
	}
	if m.Known != nil && (owner == nil || m.Version == owner.GetResourceVersion()) {
		return m.Known
	}
	version, inv := owner.GetResourceVersion(), readInventory(p.env, owner, p.keys)
	switch {
	case m.Known == nil:
		had := hasChildren(p)
		m.Fresh = inv.Empty() && !inv.Finalizer && !had
		m.Lost = (inv.Empty() && (had || inv.Finalizer)) || inv.Garbled() // the finalizer was set together with it
		m.Known = inv
	case !m.Stored.Equal(inv):
		m.Covered, p.memory.Prune.Clean = false, false // another writer has changed it
		known := m.Known.Merge(inv)
		known.Finalizer = inv.Finalizer
		m.Known = known
	}
	m.Stored, m.Version = inv, version
	m.Labelled = m.Labelled || ownsSetLabel(p, owner)
	return m.Known
}

// readLaggingOwner reads the owner live when the cache has not shown the engine's last write for too long. The cache may never show it, as
// in a cluster that was restored from a backup. It returns nil if the known metadata is sufficient.
func readLaggingOwner(p *pass) metav1.Object {
	m := &p.memory.Metadata
	if m.Written.Left(p.now, p.env.options.LagDeadline) > 0 {
		return nil
	}
	found, err := p.liveMetadata(p.ownerKind.GVK, client.ObjectKeyFromObject(p.owner))
	if err != nil || found == nil || found.UID != p.owner.GetUID() {
		return nil
	}
	m.Written = freshness.Wrote(found.ResourceVersion, p.now)
	return found
}

// hasChildren reports whether planned objects exist that carry the label of the owner's set.
func hasChildren(p *pass) bool {
	return slices.ContainsFunc(p.children, func(c *child) bool {
		return c.kind != nil && c.member && c.live != nil && c.live.GetLabels()[applyset.PartOfLabel] == p.setID
	})
}

// decideInventory decides the entries that must be recorded before any child is written. In steady state it only compares two hashes.
func decideInventory(p *pass) {
	if p.group != nil {
		return // no object to record it on
	}
	recorded := recordedInventory(p)
	m := &p.memory.Metadata
	if m.Covered && m.Identity == p.identity {
		return
	}
	wanted := recorded.Merge(plannedInventory(p))
	if p.finalize {
		wanted.Finalizer = recorded.Finalizer // the API server accepts no new finalizer now
		wanted.Orphan = recorded.Finalizer && p.orphans()
	}
	if m.Fresh && keepsGeneration(p) {
		wanted.Generation = p.owner.GetGeneration()
	}
	if !wanted.Equal(m.Stored) {
		wantInventory(p, wanted)
	}
}

// wantInventory decides to record another inventory on the owner.
func wantInventory(p *pass, inv *applyset.Inventory) {
	p.wanted = inv
	reportOwnerWrite(p)
}

// reportOwnerWrite adds the write of the owner's metadata to the result.
func reportOwnerWrite(p *pass) {
	p.result.Owner = &apply.Decision{
		GVK: p.ownerKind.GVK, Key: client.ObjectKeyFromObject(p.owner), UID: p.owner.GetUID(),
		Verb: apply.VerbRecord, Reason: apply.ReasonInventory,
	}
}

// growInventory records the new entries of the plan before any child is written.
func growInventory(p *pass) error {
	if p.group != nil {
		return nil
	}
	if p.wanted != nil {
		if err := recordInventory(p, p.wanted); err != nil {
			return fmt.Errorf("record the inventory: %w", err)
		}
	}
	if !p.memory.Metadata.Confirmed && outlivesOwner(p) {
		if err := confirmOwner(p); err != nil {
			return err
		}
	}
	m := &p.memory.Metadata
	m.Covered, m.Identity = true, p.identity
	return nil
}

// recordInventory writes the inventory to the owner, pinned to the version that was read. After a conflict it reads the metadata again,
// once.
func recordInventory(p *pass, inv *applyset.Inventory) error {
	version, current := p.owner.GetResourceVersion(), metav1.Object(p.owner)
	if m := &p.memory.Metadata; m.Written.HiddenBy(p.owner) {
		version = m.Written.Version()
	}
	answer, err := patchOwner(p, inv, version, current)
	if apierrors.IsConflict(err) {
		found, readErr := p.liveMetadata(p.ownerKind.GVK, client.ObjectKeyFromObject(p.owner))
		if readErr != nil || found == nil || found.UID != p.owner.GetUID() {
			return err
		}
		if m := p.memory.Sets; p.env.usesOwnSet(found, m.UsesOwn) != m.UsesOwn {
			return fmt.Errorf("%w: %w", errSetTaken, err)
		}
		if inv, err = mergeRecorded(p, inv, found, err); err != nil {
			return err
		}
		version = found.ResourceVersion
		answer, err = patchOwner(p, inv, version, found)
	}
	if err != nil {
		return err
	}
	m := &p.memory.Metadata
	m.Replaced, m.Written, m.Confirmed = version, freshness.Wrote(answer.ResourceVersion, p.now), true
	m.Stored, m.Known, m.Version = inv, inv, answer.ResourceVersion
	m.Labelled = m.Labelled || ownsSetLabel(p, answer)
	p.owner.SetLabels(answer.Labels)
	p.owner.SetAnnotations(answer.Annotations)
	p.owner.SetFinalizers(answer.Finalizers)
	p.owner.SetManagedFields(answer.ManagedFields)
	p.owner.SetResourceVersion(answer.ResourceVersion)
	return nil
}

// mergeRecorded adds to a growing inventory what another process has recorded meanwhile. It returns the conflict for a shrinking one, which
// is decided again.
func mergeRecorded(p *pass, inv *applyset.Inventory, found metav1.Object, conflict error) (*applyset.Inventory, error) {
	stored, recorded := p.memory.Metadata.Stored, readInventory(p.env, found, p.keys)
	switch {
	case stored == nil || recorded.Equal(stored) || inv.Merge(recorded).Equal(inv):
		return inv, nil
	case inv.Merge(stored).Equal(inv):
		return inv.Merge(recorded), nil
	}
	return nil, conflict
}

func patchOwner(p *pass, inv *applyset.Inventory, version string, current metav1.Object) (*metav1.PartialObjectMetadata, error) {
	metadata := map[string]any{"uid": p.owner.GetUID(), "resourceVersion": version}
	if has := slices.Contains(current.GetFinalizers(), p.env.options.Finalizer); has != inv.Finalizer {
		off := []string{p.env.options.Finalizer}
		if !inv.Finalizer {
			off = append(off, productFinalizers(p, current)...)
		}
		changed := slices.DeleteFunc(slices.Clone(current.GetFinalizers()), func(f string) bool { return slices.Contains(off, f) })
		if inv.Finalizer {
			changed = append(changed, p.env.options.Finalizer)
		}
		metadata["finalizers"] = changed
	}
	annotations := map[string]any{
		p.keys.Kinds:         nilIfEmpty(joinUnreadable(applyset.FormatGroupKinds(inv.Kinds), inv.UnreadableKinds)),
		p.keys.Namespaces:    nilIfEmpty(applyset.FormatNames(inv.Namespaces)),
		p.keys.Contributions: nilIfEmpty(joinUnreadable(applyset.FormatContributions(inv.Contributions), inv.UnreadableContributions)),
		p.keys.Generation:    nil,
		p.keys.Tooling:       p.env.tooling(),
		p.keys.AllowPrune:    nilIfEmpty(p.allowPrune),
		p.keys.AdoptRestored: nilIfEmpty(p.restored.kept(p)),
		p.keys.Orphan:        nil,
	}
	if inv.Orphan {
		annotations[p.keys.Orphan] = orphanValue
	}
	if inv.Generation > 0 {
		annotations[p.keys.Generation] = strconv.FormatInt(inv.Generation, 10)
	}
	metadata["annotations"] = annotations
	metadata["labels"] = map[string]any{p.keys.ID: p.setID}
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
	err = p.env.client.Patch(p.ctx, o, client.RawPatch(types.MergePatchType, data),
		client.FieldOwner(p.env.ownerManager()))
	return o, err
}

// joinUnreadable appends the entries that could not be parsed to a list.
func joinUnreadable(list string, unreadable []string) string {
	if list != "" {
		unreadable = append([]string{list}, unreadable...)
	}
	return strings.Join(unreadable, ",")
}

// nilIfEmpty returns nil for an empty value, which deletes the annotation.
func nilIfEmpty(value string) any {
	if strings.TrimSpace(value) == "" {
		return nil
	}
	return value
}
