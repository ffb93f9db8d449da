package children

import (
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/internal/fingerprint"
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
	// Retained applies it without an owner reference, and it is never pruned ([apply.Retained]). Otherwise the owner is its controller.
	Retained bool
	// Off is what becomes of it when When is false. Default Prune.
	Off Off
	// Deletion are the options of the deletion of Off Delete, such as apply.MatchLabels. Nil is none.
	Deletion []apply.DeletionOption
	// Options are those of the engine, such as apply.Recreate for a child with immutable fields.
	Options []apply.ChildOption
	// Dynamic are options that depend on the facts. Nil is none.
	Dynamic func(C) []apply.ChildOption
	// Mutate changes what the template gave, for what a template cannot express. Use [manifests.Change] to edit the object as its Go type. Nil
	// changes nothing.
	Mutate func(C, manifests.Object)
}

// defaultMaxRemembered is how much a [Set] remembers of the plans it has made: 32 MiB.
const defaultMaxRemembered = 32 << 20

// Set is all children of an owner. It remembers plans and must not be copied.
type Set[C any] struct {
	// Manifests has the templates. Required.
	Manifests *manifests.Set
	// Children are the children, in any order. They must not change after the first plan.
	Children []Child[C]
	// MaxRemembered is how many bytes of plans are remembered, so that a plan for facts that have not changed is not made
	// again; the plans that were asked for last stay. A plan takes about three times what its objects have as JSON. Zero is
	// 32 MiB, a negative number remembers nothing.
	MaxRemembered int

	remembered memory
}

// Plan renders the children for the facts. The errors of all of them are joined; with one there is no plan.
//
// It is a function of the facts: the templates and the functions of the [Child] must not look at anything else that changes.
// Facts that are deeply equal to those of an earlier call give the objects of that call again. The objects must not be
// changed; what is changed all the same is made anew by the next call. Facts that hold functions, channels or locks are always
// rendered.
func (s *Set[C]) Plan(facts C) (reconcile.PlanResult, error) {
	budget := s.MaxRemembered
	if budget == 0 {
		budget = defaultMaxRemembered
	}
	var key fingerprint.Sum
	known := false
	if budget > 0 {
		if key, known = fingerprint.Of(&facts); known {
			if plan, found := s.remembered.recall(key); found {
				return plan, nil
			}
		}
	}
	plan, err := s.render(facts)
	if err == nil && known {
		return s.remembered.keep(key, plan, budget), nil
	}
	return plan, err
}

func (s *Set[C]) render(facts C) (reconcile.PlanResult, error) {
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
		plan.Apply(object, append(options[:len(options):len(options)], apply.Retained)...)
	default:
		plan.Apply(object, options...)
	}
	return nil
}
