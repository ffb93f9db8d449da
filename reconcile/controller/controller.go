package controller

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/conditionlist"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// Controller is a declared controller, which [Builder.Build] returns. Call SetupWithManager at most once.
// [Controller.Describe] and [Controller.Preview] do not need a set-up.
type Controller struct {
	declared
	failed    *observe.ListFailures
	explainer *observe.Explainer // nil before the set-up
	running   manager.Manager    // nil before the set-up
	selected  *selectedOwners    // nil before the set-up and when all owners are selected
	informers *shards.Informers  // of the owners, if they request only those of the Shard or of the selection
}

// ErrSkip is returned by a function of [Builder.Prepare] to leave the controller out of the manager.
var ErrSkip = errors.New("leave the controller out of the manager")

// Share restricts the process to the owners of a shard, like Shard of the [Options], which must be nil. Package operator
// calls it with values from flags. Call it before [CacheOptions]. Groups cannot be divided into shards; Share returns an
// error for them.
func (c *Controller) Share(shard Shard) error {
	if c.options.Shard != nil {
		return fmt.Errorf("controller %q: Options.Shard is there already, with the name %q: leave one of the two out", c.name, c.options.Shard.Name)
	}
	if err := shards.Check(&shard, c.name, c.store != nil); err != nil {
		return err
	}
	c.options.Shard = &shard
	return nil
}

// StoreClaimsIn sets ClaimNamespace of the [Options] if it is empty. Package operator calls it with a value from flags.
func (c *Controller) StoreClaimsIn(namespace string) {
	if c.options.ClaimNamespace == "" {
		c.options.ClaimNamespace = namespace
	}
}

// names returns the name of the controller, its field manager and its finalizer.
func (c *Controller) names() names { return namesOf(c.name, c.options.Apply) }

// resolved returns the declared kinds, or the errors of the options, the phases and the declarations.
func (c *Controller) resolved(scheme *runtime.Scheme) (*declaration.Catalogue, error) {
	if c.invalid != nil {
		return nil, fmt.Errorf("controller %q: %w", c.name, c.invalid)
	}
	if err := c.phases.check(); err != nil {
		return nil, fmt.Errorf("controller %q: %w", c.name, err)
	}
	for _, table := range c.transitions {
		if err := table.Check(); err != nil {
			return nil, fmt.Errorf("controller %q: %w", c.name, err)
		}
	}
	for _, joined := range c.joins {
		if joined.store == nil {
			return nil, fmt.Errorf("controller %q: Joins(%q): the controller has no groups: want one of NewGroup or NewSingleton", c.name, joined.name)
		}
	}
	if c.options.InspectChildren && c.hasMembers() {
		return nil, fmt.Errorf("controller %q: Options.InspectChildren is true, but the owners are groups, whose members report the children", c.name)
	}
	kinds, err := declaration.Resolve(c.name, scheme, c.declarations)
	if err != nil {
		return nil, err
	}
	for _, k := range kinds.Kinds {
		if k.Inspect != nil && !c.inspects() {
			return nil, fmt.Errorf("controller %q: Inspector of %s is never called: the observation has GetComponentHealth without Options.InspectChildren, or the owners are groups",
				c.name, declaration.Print(k.GroupVersionKind))
		}
	}
	kinds.Kinds[0].Finalizer = c.names().Finalizer
	kinds.ShareOwners(shards.SelectionOf(c.options.Shard))
	return kinds, kinds.SelectOwners()
}

// inspects reports whether the engine reports the health of the children. It does not for groups with members: a group
// whose children are not ready has still applied the parts of its members.
func (c *Controller) inspects() bool {
	return (c.options.InspectChildren || !c.phases.reportsHealth()) && !c.hasMembers()
}

func (c *Controller) hasMembers() bool { return c.store != nil && !c.store.Single }

// phases is a reconciler without its type parameters.
type phases interface {
	// check reports errors in the methods of the reconciler.
	check() error
	// finalizes reports whether the reconciler implements [reconcile.Finalizer].
	finalizes() bool
	// reportsHealth reports whether the observation implements [reconcile.Observation].
	reportsHealth() bool
	// conditions returns access to the conditions of the owners.
	conditions() conditionlist.Access
	// pipeline returns the reconciler that runs the phases.
	pipeline(config pipeline.Config) (ctrl.Reconciler, error)
}

// typed is a reconciler with its type parameters.
type typed[T reconcile.Owner, F, O any] struct {
	reconcile.Reconciler[T, F, O]
}

func (r typed[T, F, O]) check() error { return pipeline.CheckPhases(r.Reconciler) }

func (r typed[T, F, O]) finalizes() bool {
	_, finalizes := r.Reconciler.(reconcile.Finalizer[T, F])
	return finalizes
}

func (typed[T, F, O]) reportsHealth() bool { return pipeline.ReportsHealth[O]() }

func (r typed[T, F, O]) conditions() conditionlist.Access { return conditionlist.Of[T](r.Reconciler) }

func (r typed[T, F, O]) pipeline(config pipeline.Config) (ctrl.Reconciler, error) {
	return pipeline.New(r.Reconciler, config)
}
