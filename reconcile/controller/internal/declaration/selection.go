package declaration

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Condition is a function of an author that selects owners.
type Condition struct {
	Source string // file:line of the declaration
	Holds  func(owner client.Object) bool
}

// ErrWherePanicked is the error of a selection whose function panicked. The log has the panic.
var ErrWherePanicked = errors.New("the function of Where panicked: whether the controller reconciles the object is unknown")

// Selects reports whether the controller reconciles the owner. It assumes that fields of the filter other than the name and the namespace
// match, because the API server evaluates them. The error is ErrWherePanicked.
func (k *Kind) Selects(owner client.Object) (bool, error) {
	if k.Owners != nil && !k.Owners.Matches(client.ObjectKeyFromObject(owner), labels.Set(owner.GetLabels())) {
		return false, nil
	}
	for _, c := range k.Where {
		holds := false
		if ended := k.Panics.Guard(FunctionWhere, c.Source, owner, func() { holds = c.Holds(owner) }); !ended {
			return false, ErrWherePanicked
		}
		if !holds {
			return false, nil
		}
	}
	return true, nil
}

// Reconciles reports whether the controller has work for the owner: it selects the owner, or has to finalize it. An unknown selection
// counts as selected, so that a reconciliation reports the error.
func (k *Kind) Reconciles(owner client.Object) bool {
	if !k.Selective() || !owner.GetDeletionTimestamp().IsZero() && k.Finalizes(owner) {
		return true
	}
	selected, err := k.Selects(owner)
	return selected || err != nil
}

// Finalizes reports whether the owner has the finalizer of the controller.
func (k *Kind) Finalizes(owner client.Object) bool {
	return controllerutil.ContainsFinalizer(owner, k.Finalizer)
}

// Selective reports whether the controller reconciles only some objects of the kind.
func (k *Kind) Selective() bool { return k.Owners != nil || len(k.Where) > 0 }

// Selection returns the selection of owners as text, empty if the controller reconciles all.
func (k *Kind) Selection() string {
	var parts []string
	if k.Owners != nil {
		parts = append(parts, k.Owners.String())
	}
	for _, c := range k.Where {
		parts = append(parts, "Where at "+c.Source)
	}
	return strings.Join(parts, " and ")
}

// ServerField returns a field of the selection that only the API server evaluates, empty if there is none.
func (k *Kind) ServerField() string { return k.Owners.byContent() }

// selectBy adds the selection of owners.
func (k *Kind) selectBy(d Declaration) error {
	switch {
	case d.Filter == nil && len(d.Where) == 0:
		return nil
	case k.Representation == Virtual:
		return errors.New("options Filter and Where: a group has no object to select: give Filter to Members, or return no key for objects that are no members")
	}
	k.Owners, k.Where = d.Filter, slices.Clone(d.Where)
	return nil
}

// SelectOwners restricts the informer of the owners to the selected ones, unless their kind is also used in another way.
func (c *Catalogue) SelectOwners() error {
	owner := c.Kinds[0]
	if owner.Owners == nil {
		return nil
	}
	if owner.only(PurposeFor) {
		var ofLabels, ofFields string
		if owner.Owners.Labels != nil {
			ofLabels = owner.Owners.Labels.String()
		}
		if owner.Owners.Fields != nil {
			ofFields = owner.Owners.Fields.String()
		}
		owner.Shared = owner.Shared.Within(ofLabels, ofFields)
		return nil
	}
	if field := owner.ServerField(); field != "" {
		return fmt.Errorf("controller %q: option Filter of Owners: only the API server evaluates %s, and the controller uses objects of %s besides its owners: "+
			"select with Where", c.Controller, field, Print(owner.GroupVersionKind))
	}
	return nil
}
