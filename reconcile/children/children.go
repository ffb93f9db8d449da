package children

import (
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/internal/fingerprint"
	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Off determines what happens to a child if its When is false.
type Off int

const (
	// Prune deletes the child if the engine created it.
	Prune Off = iota
	// Keep keeps the child until the owner is deleted.
	Keep
	// Delete deletes the child even if this owner did not create it, unless another controller owns it; see [apply.Uncontrolled].
	Delete
)

// Child declares one child of an owner. C is the type of the facts.
type Child[C any] struct {
	// Template is the name of the child's template. Required.
	Template string
	// When reports whether the child should exist. Nil means always.
	When func(C) bool
	// Retained applies the child without an owner reference and never prunes it ([apply.Retained]). Otherwise the owner is its controller.
	Retained bool
	// Off determines what happens if When is false. Default Prune.
	Off Off
	// Deletion are the options for Off Delete, such as apply.MatchLabels. Optional.
	Deletion []apply.DeletionOption
	// Options are options of the apply engine, such as apply.Recreate for a child with immutable fields.
	Options []apply.ChildOption
	// Dynamic returns options that depend on the facts. Optional.
	Dynamic func(C) []apply.ChildOption
	// Mutate modifies the rendered object, for changes that a template cannot express. Use [manifests.Change] to edit the object as its Go
	// type. Optional.
	Mutate func(C, manifests.Object)
}

// defaultMaxRemembered is the default size of a [Set]'s cache of plans: 32 MiB.
const defaultMaxRemembered = 32 << 20

// Set declares all children of an owner. It caches plans and must not be copied.
type Set[C any] struct {
	// Manifests contains the templates. Required.
	Manifests *manifests.Set
	// Children are the children, in any order. They must not change after the first plan.
	Children []Child[C]
	// MaxRemembered is the size of the cache of plans in bytes; the least recently used plans are evicted. A plan takes about three times
	// the JSON size of its objects. Zero is 32 MiB; a negative number disables the cache.
	MaxRemembered int

	remembered memory
}

// Plan renders the children for the facts. It joins the errors of all children; with an error there is no plan.
//
// Plan must depend only on the facts: the templates and the functions of the [Child] must not use other variable input. Facts that are
// deeply equal to those of a cached plan return the same objects. Callers must not modify the objects; if they do, the next call renders
// them again. Facts that contain functions, channels or locks are never cached.
func (s *Set[C]) Plan(facts C) (reconcile.PlanResult, error) {
	budget := s.MaxRemembered
	if budget == 0 {
		budget = defaultMaxRemembered
	}
	var key fingerprint.Sum
	known := false
	if budget > 0 {
		if key, known = fingerprint.Of(&facts); known {
			if plan, found := s.remembered.get(key); found {
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
