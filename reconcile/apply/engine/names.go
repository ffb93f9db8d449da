package engine

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

// removalManager is the field manager of these patches. In a list that is owned
// as a whole the server makes whoever removes an item an owner of the rest,
// which must not be mixed up with what we apply.
func (e *env) removalManager() string { return e.options.FieldManager + ":absent" }

// maxManager is the length that the API server allows for a field manager.
const maxManager = 128

// contributor is the field manager for contributions and shared objects, one
// per owner. The UID of a group may be too long for it.
func (p *pass) contributor() string {
	m := p.memory
	if m.Contributor == "" {
		m.Contributor = p.env.options.FieldManager + ":" + string(p.owner.GetUID())
		if len(m.Contributor) > maxManager {
			m.Contributor = p.env.options.FieldManager + ":" + groupkey.ShortHash(string(p.owner.GetUID()))
		}
	}
	return m.Contributor
}

// groupValue is what the annotation of the group says.
func (p *pass) groupValue() string {
	return groupkey.Value(p.ownerKind.GVK.Kind, client.ObjectKeyFromObject(p.owner))
}

const (
	// toolingVersion follows the field manager in the tooling annotation.
	toolingVersion = "/v1"
	// formerTooling is the value that did not name the field manager.
	formerTooling = "reconcilekit/v1"
)

// tooling is the value of the tooling annotation.
func (e *env) tooling() string { return e.options.FieldManager + toolingVersion }

// ownerManager is the field manager of what the engine writes to owners. An
// owner may be the child of another owner whose controller has the same field
// manager; what that one applies must not be mixed up with the inventory.
func (e *env) ownerManager() string { return e.options.FieldManager + ":owner" }

// chooseSet decides which inventory of the owner is this controller's.
func (p *pass) chooseSet() {
	m, e := &p.memory.Sets, p.env
	if m.Standard == "" {
		gk, key := p.ownerKind.GVK.GroupKind(), client.ObjectKeyFromObject(p.owner)
		m.Standard, m.Own = applyset.ID(gk, key), applyset.IDOf(gk, key, e.options.FieldManager)
	}
	if p.group == nil {
		m.UsesOwn = e.usesOwnSet(p.owner, m.UsesOwn)
	}
	p.setID, p.keys = m.Standard, &e.standardKeys
	if m.UsesOwn {
		p.setID, p.keys = m.Own, &e.ownKeys
	}
}

// usesOwnSet reports whether the controller keeps its inventory under names of
// its own, as the standard ones are another controller's. before is what was
// known before, for an owner that does not say.
func (e *env) usesOwnSet(owner metav1.Object, before bool) bool {
	annotations := owner.GetAnnotations()
	tooling := annotations[applyset.ToolingAnnotation]
	manager, _ := strings.CutSuffix(tooling, toolingVersion)
	switch {
	case tooling == formerTooling:
		return !e.wroteFormer(owner)
	case e.ours(manager):
		return false
	case annotations[e.ownKeys.Tooling] != "" || tooling != "":
		return true
	}
	return before
}

// wroteFormer reports whether this controller has written the inventory of an
// owner that does not name its controller.
func (e *env) wroteFormer(owner metav1.Object) bool {
	entries := owner.GetManagedFields()
	return len(entries) == 0 || slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		return e.ours(entry.Manager) && fieldset.OwnsMetadata(&entry, "annotations", applyset.ToolingAnnotation)
	})
}

// inventoryNames are the labels and annotations that the engine keeps on
// owners.
func (e *env) inventoryNames() map[string][]string {
	names := map[string][]string{}
	for _, k := range []*applyset.Keys{&e.standardKeys, &e.ownKeys} {
		names["labels"] = append(names["labels"], k.ID)
		names["annotations"] = append(names["annotations"], k.Annotations()...)
	}
	return names
}

// metadataManager is the field manager of what plans say about owners.
func (e *env) metadataManager() string { return e.options.FieldManager + ":metadata" }
