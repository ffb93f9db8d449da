package apply

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
)

// Options configure an [engine.Engine].
type Options struct {
	// FieldManager is the field manager of the engine's applies. Required, at most 90 bytes, printable, without a colon. It must stay the
	// same across versions of the operator; move a previous name to FormerManagers.
	FieldManager string
	// FormerManagers are field managers of earlier versions of the operator, with client-side apply, update or server-side apply. The
	// engine moves their fields to FieldManager before the first apply, and takes over their fields in the status of an owner.
	FormerManagers []string
	// Domain is the prefix of the annotations that the engine keeps on owners in addition to those of KEP-3659. Default reconcilekit.dev.
	Domain string
	// Finalizer is the finalizer of owners that need one. Default Domain + "/" + FieldManager.
	Finalizer string
	// PruneShare is a share of an owner's children, from 0 to 1. A larger prune is blocked unless spec or inputs have changed. Default
	// 0.5.
	PruneShare float64
	// PruneMinimum is the number of children below which a prune is not blocked for its share. Default 3.
	PruneMinimum int
	// GuardedKinds are the kinds whose objects hold data or work. Without a changed spec or changed inputs, a prune of even one such
	// object is blocked. Every prune and deletion of them is marked in the result ([ObjectResult.HoldsData]). Nil is Namespace,
	// PersistentVolume, PersistentVolumeClaim, Pod, Job and CustomResourceDefinition; empty guards no kind.
	GuardedKinds []schema.GroupKind
	// Kinds are all kinds that plans of this engine may name, and those that plans of earlier versions named. With them the engine
	// rebuilds a lost inventory by label, and an inventory that a user has edited cannot make it read objects of other kinds. The builder
	// of reconcile/controller sets it. With nil the engine trusts the inventory, within LiveReads.
	Kinds []ChildKind
	// LiveReads is the maximum number of requests in one pass for finding children that left the plan and contributions to give back. The
	// next pass continues with the rest. Default 100.
	LiveReads int
	// Propagation is the deletion propagation for prunes, recreations, and planned deletions without [PropagationPolicy]. Default
	// metav1.DeletePropagationBackground.
	Propagation metav1.DeletionPropagation
	// Concurrency is the maximum number of concurrent writes of one pass. Default 4.
	Concurrency int
	// LagDeadline is how long the engine waits for the cache to show a write before it reads the object live. Default 10 s.
	LagDeadline time.Duration
	// ContestInterval is how long the engine leaves a contested or rejected object alone while neither the plan nor the other manager
	// changes. It also applies to an object for which the API server returned values other than the planned ones. Default 5 min.
	ContestInterval time.Duration
	// OptOutAnnotation is an annotation that excludes a child from management while its value is exactly "false": the engine neither
	// writes nor deletes the child. Default empty: children cannot opt out.
	OptOutAnnotation string
	// Announced reports that the caller passes every object that enters its cache to [engine.Engine.Announce]. After a start the engine
	// then searches for leftover children once for all owners, instead of once per owner. The builder of reconcile/controller sets it.
	// Default false.
	Announced bool
	// Clock returns the time. Default the real clock.
	Clock clock.PassiveClock
}
