package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

const (
	// toolingVersion follows the field manager in the tooling annotation.
	toolingVersion = "/v1"
	// formerTooling is the value that did not name the field manager.
	formerTooling = "reconcilekit/v1"
)

var errSetTaken = errors.New("another controller has recorded its children on the owner meanwhile")

func (e *env) tooling() string { return e.opts.FieldManager + toolingVersion }

// ownerManager is the field manager of what the engine writes to owners. An
// owner may be the child of another owner whose controller has the same field
// manager; what that one applies must not be mixed up with the inventory.
func (e *env) ownerManager() string { return e.opts.FieldManager + ":owner" }

// chooseSet decides which inventory of the owner is this controller's.
func (p *pass) chooseSet() {
	m, e := &p.memory.Sets, p.engine
	if m.Standard == "" {
		gk, key := p.ownerKind.GVK.GroupKind(), client.ObjectKeyFromObject(p.owner)
		m.Standard, m.Own = apply.ApplySetID(gk, key), applyset.IDOf(gk, key, e.opts.FieldManager)
	}
	if p.group == nil {
		m.UsesOwn = e.usesOwnSet(p.owner, m.UsesOwn)
	}
	p.id, p.keys = m.Standard, &e.standardKeys
	if m.UsesOwn {
		p.id, p.keys = m.Own, &e.ownKeys
	}
}

// usesOwnSet reports whether the controller keeps its inventory under names of
// its own, as the standard ones are another controller's. before is what was
// known before, for an owner that does not say.
func (e *env) usesOwnSet(owner metav1.Object, before bool) bool {
	annotations := owner.GetAnnotations()
	tooling := annotations[apply.ToolingAnnotation]
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
		return e.ours(entry.Manager) && managedfields.OwnsMetadata(&entry, "annotations", apply.ToolingAnnotation)
	})
}

// setSelector selects what is labelled with an id of the owner. Whether it is
// a child is to be proven.
func (p *pass) setSelector() (client.MatchingLabelsSelector, error) {
	m := &p.memory.Sets
	either, err := labels.NewRequirement(apply.PartOfLabel, selection.In, []string{m.Standard, m.Own})
	if err != nil {
		return client.MatchingLabelsSelector{}, fmt.Errorf("select the members: %w", err)
	}
	return client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*either)}, nil
}
