package inventory

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
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

var (
	errSetTaken = errors.New("another controller has recorded its children on the owner meanwhile")
	errDeleted  = errors.New("the owner is being deleted, which the cache does not show yet")
)

// Recorded returns where children of the owner may be: what its metadata says,
// with our own last write counting more than an owner from a cache that lags
// behind it, and what this process knows although somebody has taken it off.
func Recorded(p *pass.Pass) *applyset.Inventory {
	if p.Group != nil {
		return groupInventory(p.Group)
	}
	m := &p.Memory.Metadata
	owner := metav1.Object(p.Owner)
	if m.Known != nil && m.Version != owner.GetResourceVersion() && m.Written.HiddenBy(p.Owner) {
		owner = lookBehind(p)
	}
	if m.Known != nil && (owner == nil || m.Version == owner.GetResourceVersion()) {
		return m.Known
	}
	version, inv := owner.GetResourceVersion(), read(p.Env, owner, p.Keys)
	switch {
	case m.Known == nil:
		had := hasChildren(p)
		m.Fresh = inv.Empty() && !inv.Finalizer && !had
		m.Lost = (inv.Empty() && (had || inv.Finalizer)) || inv.Garbled() // the finalizer was set together with it
		m.Known = inv
	case !m.Stored.Equal(inv):
		m.Covered, p.Memory.Prune.Clean = false, false // somebody has changed it
		known := m.Known.Merge(inv)
		known.Finalizer = inv.Finalizer
		m.Known = known
	}
	m.Stored, m.Version = inv, version
	return m.Known
}

// lookBehind returns the owner as the API server has it, when the cache has not shown our
// last write for too long: it may never do so, as in a cluster that was restored
// from a backup. Nil is for what is known being good enough.
func lookBehind(p *pass.Pass) metav1.Object {
	m := &p.Memory.Metadata
	if m.Written.Left(p.Now, p.Env.Options.LagDeadline) > 0 {
		return nil
	}
	found, err := p.LiveMetadata(p.OwnerKind.GVK, client.ObjectKeyFromObject(p.Owner))
	if err != nil || found == nil || found.UID != p.Owner.GetUID() {
		return nil
	}
	m.Written = freshness.Wrote(found.ResourceVersion, p.Now)
	return found
}

// hasChildren reports whether planned objects exist that are marked as members
// of the owner's set.
func hasChildren(p *pass.Pass) bool {
	return slices.ContainsFunc(p.Children, func(c *pass.Child) bool {
		return c.Kind != nil && c.Member && c.Live != nil && c.Live.GetLabels()[applyset.PartOfLabel] == p.SetID
	})
}

// DecideInventory decides what has to be recorded before anything is written.
// At steady state it compares two numbers.
func DecideInventory(p *pass.Pass) {
	if p.Group != nil {
		return // there is nothing to record it on
	}
	recorded := Recorded(p)
	m := &p.Memory.Metadata
	if m.Covered && m.Identity == p.Identity {
		return
	}
	wanted := recorded.Merge(Planned(p))
	if p.Finalize {
		wanted.Finalizer = recorded.Finalizer // the server takes no new one now
		wanted.Orphan = recorded.Finalizer && p.Orphans()
	}
	if m.Fresh && KeepsGeneration(p) {
		wanted.Generation = p.Owner.GetGeneration()
	}
	if !wanted.Equal(m.Stored) {
		Want(p, wanted)
	}
}

// Want decides to record another inventory on the owner.
func Want(p *pass.Pass, inv *applyset.Inventory) {
	p.Wanted = inv
	ReportOwnerWrite(p)
}

// ReportOwnerWrite notes in the result that the metadata of the owner is written.
func ReportOwnerWrite(p *pass.Pass) {
	p.Result.Owner = &apply.Decision{
		GVK: p.OwnerKind.GVK, Key: client.ObjectKeyFromObject(p.Owner), UID: p.Owner.GetUID(),
		Verb: apply.VerbRecord, Reason: apply.ReasonInventory,
	}
}

// Grow records what the plan needs before anything is written.
func Grow(p *pass.Pass) error {
	if p.Group != nil {
		return nil
	}
	if p.Wanted != nil {
		if err := Record(p, p.Wanted); err != nil {
			return fmt.Errorf("record the inventory: %w", err)
		}
	}
	if !p.Memory.Metadata.Confirmed && outlives(p) {
		if err := Confirm(p); err != nil {
			return err
		}
	}
	m := &p.Memory.Metadata
	m.Covered, m.Identity = true, p.Identity
	return nil
}

// Record writes the inventory to the owner, in the version that was read. One
// conflict is met by reading the metadata anew.
func Record(p *pass.Pass, inv *applyset.Inventory) error {
	version, current := p.Owner.GetResourceVersion(), metav1.Object(p.Owner)
	if m := &p.Memory.Metadata; m.Written.HiddenBy(p.Owner) {
		version = m.Written.Version()
	}
	answer, err := patchOwner(p, inv, version, current)
	if apierrors.IsConflict(err) {
		found, readErr := p.LiveMetadata(p.OwnerKind.GVK, client.ObjectKeyFromObject(p.Owner))
		if readErr != nil || found == nil || found.UID != p.Owner.GetUID() {
			return err
		}
		if m := p.Memory.Sets; p.Env.UsesOwnSet(found, m.UsesOwn) != m.UsesOwn {
			return fmt.Errorf("%w: %w", errSetTaken, err)
		}
		version = found.ResourceVersion
		answer, err = patchOwner(p, inv, version, found)
	}
	if err != nil {
		return err
	}
	m := &p.Memory.Metadata
	m.Replaced, m.Written, m.Confirmed = version, freshness.Wrote(answer.ResourceVersion, p.Now), true
	m.Stored, m.Known, m.Version = inv, inv, answer.ResourceVersion
	p.Owner.SetLabels(answer.Labels)
	p.Owner.SetAnnotations(answer.Annotations)
	p.Owner.SetFinalizers(answer.Finalizers)
	p.Owner.SetManagedFields(answer.ManagedFields)
	p.Owner.SetResourceVersion(answer.ResourceVersion)
	return nil
}

func patchOwner(p *pass.Pass, inv *applyset.Inventory, version string, current metav1.Object) (*metav1.PartialObjectMetadata, error) {
	metadata := map[string]any{"uid": p.Owner.GetUID(), "resourceVersion": version}
	if has := slices.Contains(current.GetFinalizers(), p.Env.Options.Finalizer); has != inv.Finalizer {
		off := []string{p.Env.Options.Finalizer}
		if !inv.Finalizer {
			off = append(off, productFinalizers(p, current)...)
		}
		changed := slices.DeleteFunc(slices.Clone(current.GetFinalizers()), func(f string) bool { return slices.Contains(off, f) })
		if inv.Finalizer {
			changed = append(changed, p.Env.Options.Finalizer)
		}
		metadata["finalizers"] = changed
	}
	annotations := map[string]any{
		p.Keys.Kinds:         orNull(joined(applyset.FormatGroupKinds(inv.Kinds), inv.UnreadableKinds)),
		p.Keys.Namespaces:    orNull(applyset.FormatNames(inv.Namespaces)),
		p.Keys.Contributions: orNull(joined(applyset.FormatContributions(inv.Contributions), inv.UnreadableContributions)),
		p.Keys.Generation:    nil,
		p.Keys.Tooling:       p.Env.Tooling(),
		p.Keys.AllowPrune:    orNull(p.AllowPrune),
		p.Keys.Orphan:        nil,
	}
	if inv.Orphan {
		annotations[p.Keys.Orphan] = pass.OrphanValue
	}
	if inv.Generation > 0 {
		annotations[p.Keys.Generation] = strconv.FormatInt(inv.Generation, 10)
	}
	metadata["annotations"] = annotations
	metadata["labels"] = map[string]any{p.Keys.ID: p.SetID}
	if inv.Empty() {
		annotations[p.Keys.Tooling] = nil
		metadata["labels"] = map[string]any{p.Keys.ID: nil}
	}
	data, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(p.OwnerKind.GVK)
	o.Name, o.Namespace = p.Owner.GetName(), p.Owner.GetNamespace()
	err = p.Env.Client.Patch(p.Ctx, o, client.RawPatch(types.MergePatchType, data),
		client.FieldOwner(p.Env.OwnerManager()))
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
