package engine

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// A field that the plan wants absent is removed by a patch of that field, pinned to the version that was read, because server-side apply
// only removes fields without another owner. The engine does not own the field afterwards, so there is nothing to give back.

// removalManager returns the field manager of these patches. When a manager removes an item of a list that is owned as a whole, the API
// server makes it an owner of the rest. That must not be mixed with the fields of applies.
func (e *env) removalManager() string { return e.options.FieldManager + ":absent" }

// maxManager is the maximum length of a field manager in bytes.
const maxManager = 128

// contributorOf returns the field manager for contributions and shared objects, one per owner. The UID of a group may be too long for a
// field manager. The memory saves the concatenation in later passes.
func (s *config) contributorOf(owner metav1.Object, m *memory.Owner) string {
	if m.Contributor == "" {
		m.Contributor = s.options.FieldManager + ":" + string(owner.GetUID())
		if len(m.Contributor) > maxManager {
			m.Contributor = s.options.FieldManager + ":" + groupkey.ShortHash(string(owner.GetUID()))
		}
	}
	return m.Contributor
}

// groupValue returns the value of the group annotation.
func (f *facts) groupValue() string {
	return groupkey.Value(f.ownerKind.GVK.Kind, client.ObjectKeyFromObject(f.owner))
}

const (
	// toolingVersion follows the field manager in the tooling annotation.
	toolingVersion = "/v1"
	// formerTooling is the value that did not name the field manager.
	formerTooling = "reconcilekit/v1"
)

// tooling returns the value of the tooling annotation.
func (e *env) tooling() string { return e.options.FieldManager + toolingVersion }

// ownerManager returns the field manager of the engine's writes to owners. An owner may be the child of another owner whose controller
// uses the same field manager. The fields of that controller must not be mixed with the inventory.
func (e *env) ownerManager() string { return e.options.FieldManager + ":owner" }

// chooseSet chooses the inventory of this controller on the owner.
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
	p.sets = *m
}

// usesOwnSet reports whether the controller keeps its inventory under names of its own because another controller uses the standard names.
// before is the previous answer, for an owner whose metadata is inconclusive.
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

// wroteFormer reports whether this controller has written an inventory that does not name its controller.
func (e *env) wroteFormer(owner metav1.Object) bool {
	entries := owner.GetManagedFields()
	return len(entries) == 0 || slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		return e.ours(entry.Manager) && fieldset.OwnsMetadata(&entry, "annotations", applyset.ToolingAnnotation)
	})
}

// inventoryNames returns the labels and annotations that the engine keeps on owners.
func (s *config) inventoryNames() map[string][]string {
	names := map[string][]string{}
	for _, k := range []*applyset.Keys{&s.standardKeys, &s.ownKeys} {
		names["labels"] = append(names["labels"], k.ID)
		names["annotations"] = append(names["annotations"], k.Annotations()...)
	}
	return names
}

// metadataManager returns the field manager of the planned metadata of owners.
func (e *env) metadataManager() string { return e.options.FieldManager + ":metadata" }
