package pass

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// A field that the plan wants absent is removed by a patch of that field in the
// version that was looked at, as server-side apply only removes what nobody
// else owns. Nothing of it is ours afterwards, so that there is nothing to give
// back.

// RemovalManager is the field manager of these patches. In a list that is owned
// as a whole the server makes whoever removes an item an owner of the rest,
// which must not be mixed up with what we apply.
func (e *Env) RemovalManager() string { return e.Options.FieldManager + ":absent" }

// maxManager is the length that the API server allows for a field manager.
const maxManager = 128

// Contributor is the field manager for contributions and shared objects, one
// per owner. The UID of a group may be too long for it.
func (p *Pass) Contributor() string {
	m := p.Memory
	if m.Contributor == "" {
		m.Contributor = p.Env.Options.FieldManager + ":" + string(p.Owner.GetUID())
		if len(m.Contributor) > maxManager {
			m.Contributor = p.Env.Options.FieldManager + ":" + groupkey.ShortHash(string(p.Owner.GetUID()))
		}
	}
	return m.Contributor
}

// GroupValue is what the annotation of the group says.
func (p *Pass) GroupValue() string {
	return groupkey.Value(p.OwnerKind.GVK.Kind, client.ObjectKeyFromObject(p.Owner))
}

const (
	// toolingVersion follows the field manager in the tooling annotation.
	toolingVersion = "/v1"
	// formerTooling is the value that did not name the field manager.
	formerTooling = "reconcilekit/v1"
)

// Tooling is the value of the tooling annotation.
func (e *Env) Tooling() string { return e.Options.FieldManager + toolingVersion }

// OwnerManager is the field manager of what the engine writes to owners. An
// owner may be the child of another owner whose controller has the same field
// manager; what that one applies must not be mixed up with the inventory.
func (e *Env) OwnerManager() string { return e.Options.FieldManager + ":owner" }

// chooseSet decides which inventory of the owner is this controller's.
func (p *Pass) chooseSet() {
	m, e := &p.Memory.Sets, p.Env
	if m.Standard == "" {
		gk, key := p.OwnerKind.GVK.GroupKind(), client.ObjectKeyFromObject(p.Owner)
		m.Standard, m.Own = applyset.ID(gk, key), applyset.IDOf(gk, key, e.Options.FieldManager)
	}
	if p.Group == nil {
		m.UsesOwn = e.UsesOwnSet(p.Owner, m.UsesOwn)
	}
	p.SetID, p.Keys = m.Standard, &e.StandardKeys
	if m.UsesOwn {
		p.SetID, p.Keys = m.Own, &e.OwnKeys
	}
}

// UsesOwnSet reports whether the controller keeps its inventory under names of
// its own, as the standard ones are another controller's. before is what was
// known before, for an owner that does not say.
func (e *Env) UsesOwnSet(owner metav1.Object, before bool) bool {
	annotations := owner.GetAnnotations()
	tooling := annotations[applyset.ToolingAnnotation]
	manager, _ := strings.CutSuffix(tooling, toolingVersion)
	switch {
	case tooling == formerTooling:
		return !e.wroteFormer(owner)
	case e.Ours(manager):
		return false
	case annotations[e.OwnKeys.Tooling] != "" || tooling != "":
		return true
	}
	return before
}

// wroteFormer reports whether this controller has written the inventory of an
// owner that does not name its controller.
func (e *Env) wroteFormer(owner metav1.Object) bool {
	entries := owner.GetManagedFields()
	return len(entries) == 0 || slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		return e.Ours(entry.Manager) && fieldset.OwnsMetadata(&entry, "annotations", applyset.ToolingAnnotation)
	})
}

// InventoryNames are the labels and annotations that the engine keeps on
// owners.
func (e *Env) InventoryNames() map[string][]string {
	names := map[string][]string{}
	for _, k := range []*applyset.Keys{&e.StandardKeys, &e.OwnKeys} {
		names["labels"] = append(names["labels"], k.ID)
		names["annotations"] = append(names["annotations"], k.Annotations()...)
	}
	return names
}

// MetadataManager is the field manager of what plans say about owners.
func (e *Env) MetadataManager() string { return e.Options.FieldManager + ":metadata" }
