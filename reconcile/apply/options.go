package apply

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
)

// Options configure an [engine.Engine].
type Options struct {
	// FieldManager is the name under which fields are owned. Required, at
	// most 90 bytes, printable, without a colon. It must stay the same
	// across versions of the operator; a name used before goes to
	// FormerManagers.
	FieldManager string
	// FormerManagers are names under which earlier versions of the operator
	// owned fields, with client-side apply, update or server-side apply.
	// What they own is moved to FieldManager before the first apply, and
	// what they wrote into the status of an owner is taken over.
	FormerManagers []string
	// Domain is the prefix of the annotations that the engine keeps on
	// owners besides those of KEP-3659. Default reconcilekit.dev.
	Domain string
	// Finalizer is the finalizer put on owners that need one. Default
	// Domain + "/" + FieldManager.
	Finalizer string
	// PruneShare is the share of an owner's children, from 0 to 1, above
	// which a prune that nothing explains is blocked. Default 0.5.
	PruneShare float64
	// PruneMinimum is the number of children that a prune must reach before
	// it can be blocked for its share. Default 3.
	PruneMinimum int
	// GuardedKinds are the kinds whose objects hold data or work: a prune that
	// nothing explains is blocked from the first of them on, and every prune
	// and deletion is marked in the result ([ObjectResult.HoldsData]). Nil is
	// Namespace, PersistentVolume, PersistentVolumeClaim, Pod, Job and
	// CustomResourceDefinition; empty guards none in particular.
	GuardedKinds []schema.GroupKind
	// Kinds are all kinds that the plans of this engine may name, and those
	// that plans of earlier versions named. With them a lost inventory is made
	// again from what is found by label, and nothing that somebody else has
	// written into an inventory makes the engine ask for objects of another
	// kind. The builder of reconcile/controller sets it. Nil is for an engine
	// alone: the inventory is believed, within LiveReads.
	Kinds []ChildKind
	// LiveReads is the number of requests that one pass may send to look for
	// children that are no longer planned, and for contributions to give back.
	// What is left over is for the next pass. Default 100.
	LiveReads int
	// Propagation is how the dependents of a deleted child go. It holds for
	// prunes, planned deletions without [PropagationPolicy], and recreations.
	// Default metav1.DeletePropagationBackground.
	Propagation metav1.DeletionPropagation
	// Concurrency is the number of writes of one pass in flight at a time.
	// Default 4.
	Concurrency int
	// LagDeadline is how long a cache may take to show a write of the engine
	// before the object is read live. Default 10 s.
	LagDeadline time.Duration
	// ContestInterval is how long a contested or rejected object is left
	// alone while neither the plan nor the other manager changes, and so is one
	// of which the API server has answered other values than planned ones. Default
	// 5 min.
	ContestInterval time.Duration
	// OptOutAnnotation is the annotation that takes a child out of the hands
	// of the engine while its value is exactly "false": the child is neither
	// written nor deleted, whatever the plan says. Default empty: there is no
	// way to opt out.
	OptOutAnnotation string
	// Announced reports that the caller tells the engine of every object that
	// comes into its cache, with [engine.Engine.Announce]. After a start the engine
	// then looks for leftover children once for all owners, instead of once
	// for each. The builder of reconcile/controller sets it. Default false.
	Announced bool
	// Clock tells the time. Default the real clock.
	Clock clock.PassiveClock
}
