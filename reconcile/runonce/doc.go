// Package runonce plans a child that runs once for a key: a Job that migrates a database to a version, or a Pod that evaluates a
// generation of a spec.
//
//	var migration = runonce.Run[*batchv1.Job]{Annotation: "example.com/migrated-to"}
//
//	plan.Apply(database)
//	stage := migration.Plan(&plan, owner, fetched, spec.Version, desired)
//
// The engine recreates an applied child after any deletion: by the Job's ttlSecondsAfterFinished, by a user, by a failing node. It
// creates a run's child once for a key, and never updates or prunes it. When the key changes, it deletes the child by its UID and creates
// another one.
//
// # State
//
// The child has the key in an annotation. When a reconciliation has read the child, the owner gets the same annotation, so that neither a
// restart nor another leader creates a second child. A child that is deleted before any reconciliation has read it runs again, because
// the operator cannot distinguish it from one that was never created.
//
// [github.com/reconcilekit/reconcilekit/health/inspect.Run] returns the outcome of a pod.
package runonce
