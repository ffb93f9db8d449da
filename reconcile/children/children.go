package children

import (
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Mode reports how a child relates to its owner.
type Mode int

const (
	// Own keeps the child as the template says, with the owner as its controller.
	Own Mode = iota
	// Once creates the child and then leaves it alone.
	Once
	// Retained keeps the child as the template says, without an owner reference; it is never pruned.
	Retained
)

// Off reports what becomes of a child whose When is false.
type Off int

const (
	// Prune deletes it, if the engine has made it.
	Prune Off = iota
	// Keep leaves it as it is until the owner goes.
	Keep
	// Delete deletes it whoever made it, unless another controller has it, as [apply.Uncontrolled] says. It is for children
	// without owner.
	Delete
)

// Child declares one child of an owner that is described by C.
type Child[C any] struct {
	// Template is the name of its template. Required.
	Template string
	// When reports whether it shall exist. Nil is always.
	When func(C) bool
	// Mode is how it relates to the owner. Default Own.
	Mode Mode
	// Off is what becomes of it when When says no. Default Prune.
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
	case c.Mode == Once:
		plan.ApplyOnce(object, options...)
	case c.Mode == Retained:
		plan.ApplyWithoutOwnerRef(object, append(options[:len(options):len(options)], apply.Retain())...)
	default:
		plan.Apply(object, options...)
	}
	return nil
}
