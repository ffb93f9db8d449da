// Package subject contains the compared implementations. All of them reconcile the same children (package desired) and set the same
// status: Ready once every child is applied without an error.
package subject

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	kit "github.com/reconcilekit/reconcilekit/reconcile"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/benchmarks/desired"
	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

// FieldManager is the field manager of the subjects.
const FieldManager = "benchmark"

// Workers is the number of concurrent reconciliations, for every subject.
const Workers = 8

// Environment contains the dependencies of a subject.
type Environment struct {
	// Client reads from the manager's cache and writes to the API server.
	Client client.Client
	// Live reads from the API server.
	Live client.Reader
	// Config and HTTP are the connection, for subjects with their own client.
	Config *rest.Config
	HTTP   *http.Client
	// Manager is the manager for a subject with its own controller; Observer receives its reconciliations.
	Manager  manager.Manager
	Observer kit.Observer
}

// Subject is one implementation.
type Subject struct {
	// Name is the subject in tables and results.
	Name string
	// Work describes briefly what the subject does and omits.
	Work string
	// Scenarios are the supported scenarios.
	Scenarios []string
	// New returns the reconciler. It returns nil without an error if it has added a controller to the manager.
	New func(Environment) (reconcile.Reconciler, error)
}

// Names of the subjects that the checks of the report use.
const (
	Kit            = "reconcilekit"
	KitWithHealth  = "reconcilekit-health"
	KitOperator    = "reconcilekit-operator"
	KitFiltered    = "reconcilekit-filtered"
	CreateOrUpdate = "CreateOrUpdate"
	ApplyAlways    = "apply-always"
	FluxSSA        = "flux-ssa"
	Crossplane     = "crossplane"
	CrossplanePut  = "crossplane-updating"
	CachedReads    = "cached-reads"
	BareClient     = "bare-client"
	BareUnordered  = "bare-client-unordered"
	BareCreating   = "bare-client-creating"
)

// All returns every subject, in the order of the tables.
func All() []Subject {
	every := []string{"steady", "converge", "restart", "churn", "drift", "spec", "prune"}
	return []Subject{
		{CachedReads, "reads the owner and each child from the cache, writes nothing", []string{"steady"}, newCachedReads},
		{BareClient, "the requests that reconcilekit sends for new owners, in order, without reads and comparisons", []string{"converge"}, newBareClient},
		{BareUnordered, "the same, up to four children of an owner at a time in any order", []string{"converge"}, newUnorderedClient},
		{BareCreating, "the same, with a create in place of each apply of a child", []string{"converge"}, newCreatingClient},
		{Kit, "a controller of the builder; repairs, prunes, checks ownership, tracks reads", append(slices.Clone(every), "foreign", "outage"), newKit},
		{KitOperator, "the same; with the default cache of an operator", []string{"foreign"}, newKit},
		{KitFiltered, "the same; its caches contain only labelled children", []string{"foreign"}, newKitFiltered},
		{KitWithHealth, "the same; each child is fetched and its health is part of the status", every, newKitWithHealth},
		{CreateOrUpdate, "controllerutil.CreateOrUpdate by hand, merging mutate functions; no prune", append(slices.Clone(every), "outage"), newCreateOrUpdate},
		{ApplyAlways, "server-side apply on every pass, forced; no prune, no ownership check", every, newApplyAlways},
		{FluxSSA, "ssa.ApplyAll, concurrency 8; prune by an inventory in the status", every, newFlux},
		{Crossplane, "APIPatchingApplicator; checks the controller; no prune", every, newCrossplanePatching},
		{CrossplanePut, "APIUpdatingApplicator; checks the controller; no prune", every, newCrossplaneUpdating},
	}
}

// ByName returns the subject of that name.
func ByName(name string) (Subject, error) {
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
	}
	return Subject{}, fmt.Errorf("subject %q is unknown", name)
}

// reconciler is the common part of the hand-written subjects: it reads the owner, calls apply for the children, and writes the status if
// it changed.
type reconciler struct {
	reader client.Reader
	apply  func(ctx context.Context, owner *widget.Widget, children []client.Object) error
	status func(ctx context.Context, before, after *widget.Widget) error
}

// Reconcile runs one pass.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	owner := &widget.Widget{}
	if err := r.reader.Get(ctx, request.NamespacedName, owner); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !owner.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	after := owner.DeepCopy()
	failed := r.apply(ctx, after, desired.Children(owner))
	setReady(after, failed)
	if statusEqual(owner, after) {
		return reconcile.Result{}, failed
	}
	if err := r.status(ctx, owner, after); err != nil {
		return reconcile.Result{}, ignoreConflict(err)
	}
	return reconcile.Result{}, failed
}

// ignoreConflict drops a conflict, because the newer owner triggers another reconciliation anyway.
func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// IsKit reports whether the subject is one of the SDK's.
func IsKit(name string) bool {
	return name == Kit || name == KitWithHealth || name == KitOperator || name == KitFiltered
}
