package children

import (
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Off reports what becomes of a child whose When is false.
type Off int

const (
	// Prune deletes it, if the engine has made it.
	Prune Off = iota
	// Keep leaves it as it is until the owner goes.
	Keep
	// Delete deletes it even if this owner did not create it, unless another controller owns it; see [apply.Uncontrolled].
	Delete
)

// Child declares one child of an owner that is described by C.
type Child[C any] struct {
	// Template is the name of its template. Required.
	Template string
	// When reports whether it shall exist. Nil is always.
	When func(C) bool
	// Retained applies it without an owner reference, and it is never pruned ([apply.Retain]). Otherwise the owner is its controller.
	Retained bool
	// Off is what becomes of it when When is false. Default Prune.
	Off Off
	// Deletion are the options of the deletion of Off Delete, such as apply.MatchLabels. Nil is none.
	Deletion []apply.DeletionOption
	// Options are those of the engine, such as apply.Recreate for a child with immutable fields.
	Options []apply.ChildOption
	// Dynamic are options that depend on the facts. Nil is none.
	Dynamic func(C) []apply.ChildOption
	// Mutate changes what the template gave, for what a template says badly. Nil changes nothing.
	Mutate func(C, manifests.Object)
}

// Set is all children of an owner.
type Set[C any] struct {
	// Manifests has the templates. Required.
	Manifests *manifests.Set
	// Children are the children, in any order.
	Children []Child[C]
}

// Plan renders the children for the facts. The errors of all of them are joined; with one there is no plan.
func (s Set[C]) Plan(facts C) (reconcile.PlanResult, error) {
	var plan reconcile.PlanResult
	var errs []error
	for i := range s.Children {
		if err := s.Children[i].plan(s.Manifests, facts, &plan); err != nil {
			errs = append(errs, fmt.Errorf("child: %w", err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return reconcile.PlanResult{}, err
	}
	return plan, nil
}

func (c *Child[C]) plan(set *manifests.Set, facts C, plan *reconcile.PlanResult) error {
	wanted := c.When == nil || c.When(facts)
	if !wanted && c.Off == Prune {
		return nil
	}
	object, err := set.Render(c.Template, facts)
	if err != nil {
		return err
	}
	if c.Mutate != nil {
		c.Mutate(facts, object)
	}
	options := c.Options
	if c.Dynamic != nil {
		options = append(options[:len(options):len(options)], c.Dynamic(facts)...)
	}
	switch {
	case !wanted && c.Off == Delete:
		plan.Delete(object, append(c.Deletion[:len(c.Deletion):len(c.Deletion)], apply.Uncontrolled())...)
	case !wanted:
		plan.Keep(object)
	case c.Retained:
		plan.ApplyWithoutOwnerRef(object, append(options[:len(options):len(options)], apply.Retain())...)
	default:
		plan.Apply(object, options...)
	}
	return nil
}
