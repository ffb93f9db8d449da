package apply

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// metadataMemory is what is remembered about the metadata of an owner.
type metadataMemory struct {
	// written is the resourceVersion after our last write of the metadata,
	// replaced the one before it.
	written, replaced string
	// recorded is the inventory as last read or written, version the
	// resourceVersion of the owner it was read from.
	recorded *applyset.Inventory
	version  string
	// identity of the plan whose inventory was covered by recorded; covered
	// says that it is one.
	identity uint64
	covered  bool
	// fresh says that the first pass found no inventory, so that all
	// members are ours to know.
	fresh bool
}

// recorded returns the inventory that the owner has, believing our own last
// write more than an owner from a cache that lags behind it.
func (p *pass) recorded() (*applyset.Inventory, error) {
	if p.group != nil {
		return groupInventory(p.group), nil
	}
	m := &p.memory.metadata
	version := p.owner.GetResourceVersion()
	if m.recorded != nil && (m.version == version || older(version, m.written)) {
		return m.recorded, nil
	}
	inv, err := p.engine.readInventory(p.owner)
	if err != nil {
		return nil, err
	}
	if m.recorded == nil {
		m.fresh = inv.Empty() && !inv.Finalizer
	} else if !m.recorded.Equal(inv) {
		m.covered = false // somebody has changed it
	}
	m.recorded, m.version = inv, version
	return inv, nil
}

// older compares resourceVersions; what cannot be compared is not older.
func older(a, b string) bool {
	if b == "" || a == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

// decideInventory decides what has to be recorded before anything is written.
// At steady state it compares two numbers.
func (p *pass) decideInventory() {
	if p.group != nil {
		return // there is nothing to record it on
	}
	recorded, err := p.recorded()
	if err != nil {
		p.result.OwnerErr = err
		return
	}
	if m := &p.memory.metadata; m.covered && m.identity == p.identity {
		return
	}
	wanted := recorded.Merge(p.plannedInventory())
	if p.finalize {
		wanted.Finalizer = recorded.Finalizer // the server takes no new one now
	}
	if !wanted.Equal(recorded) {
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
	p.result.Owner = &Decision{
		GVK: p.ownerKind.gvk, Key: client.ObjectKeyFromObject(p.owner), UID: p.owner.GetUID(),
		Verb: VerbRecord, Reason: ReasonInventory,
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
	if m := &p.memory.metadata; older(version, m.written) {
		version = m.written
	}
	answer, err := p.patchOwner(inv, version, current.GetFinalizers())
	if apierrors.IsConflict(err) {
		found, readErr := p.liveMetadata(p.ownerKind.gvk, client.ObjectKeyFromObject(p.owner))
		if readErr != nil || found == nil || found.UID != p.owner.GetUID() {
			return err
		}
		answer, err = p.patchOwner(inv, found.ResourceVersion, found.Finalizers)
	}
	if err != nil {
		return err
	}
	m := &p.memory.metadata
	m.replaced, m.written = p.owner.GetResourceVersion(), answer.ResourceVersion
	m.recorded, m.version = inv, answer.ResourceVersion
	p.owner.SetLabels(answer.Labels)
	p.owner.SetAnnotations(answer.Annotations)
	p.owner.SetFinalizers(answer.Finalizers)
	p.owner.SetManagedFields(answer.ManagedFields)
	p.owner.SetResourceVersion(answer.ResourceVersion)
	return nil
}

func (p *pass) patchOwner(inv *applyset.Inventory, version string, finalizers []string) (*metav1.PartialObjectMetadata, error) {
	metadata := map[string]any{"uid": p.owner.GetUID(), "resourceVersion": version}
	if has := slices.Contains(finalizers, p.engine.opts.Finalizer); has != inv.Finalizer {
		changed := slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool { return f == p.engine.opts.Finalizer })
		if inv.Finalizer {
			changed = append(changed, p.engine.opts.Finalizer)
		}
		metadata["finalizers"] = changed
	}
	annotations := map[string]any{
		GroupKindsAnnotation:               orNull(applyset.FormatGroupKinds(inv.Kinds)),
		NamespacesAnnotation:               orNull(applyset.FormatNames(inv.Namespaces)),
		p.engine.contributionsAnnotation(): orNull(applyset.FormatContributions(inv.Contributions)),
		ToolingAnnotation:                  toolingName,
		p.engine.AllowPruneAnnotation():    orNull(p.allowPrune),
	}
	metadata["annotations"] = annotations
	metadata["labels"] = map[string]any{ApplySetIDLabel: p.id}
	if inv.Empty() {
		annotations[ToolingAnnotation] = nil
		metadata["labels"] = map[string]any{ApplySetIDLabel: nil}
	}
	data, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(p.ownerKind.gvk)
	o.Name, o.Namespace = p.owner.GetName(), p.owner.GetNamespace()
	err = p.engine.client.Patch(p.ctx, o, client.RawPatch(types.MergePatchType, data),
		client.FieldOwner(p.engine.opts.FieldManager))
	return o, err
}

// orNull makes an empty value delete the annotation.
func orNull(value string) any {
	if strings.TrimSpace(value) == "" {
		return nil
	}
	return value
}

// blockChildren marks what would have been written.
func (p *pass) blockChildren() {
	for _, c := range p.children {
		if c.action != actionNone {
			c.result.Outcome, c.action = Blocked, actionNone
		}
	}
}
