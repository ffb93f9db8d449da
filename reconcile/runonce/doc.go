// Package runonce plans a child that runs once for a key: a Job that migrates a database to a version, a Pod that evaluates a generation of a
// spec.
//
//	var migration = runonce.Run[*batchv1.Job]{Annotation: "example.com/migrated-to"}
//
//	plan.Apply(database)
//	stage := migration.Plan(&plan, owner, fetched, spec.Version, desired)
//
// A child that is only applied is made again when it is gone: by the Job's ttlSecondsAfterFinished, by somebody who cleans up, by a node that
// fails. This one is not. It is made once for a key, is never changed or pruned, and stays when it is done. When the key changes it is
// deleted, by its UID, and another one is made.
//
// # What is remembered
//
// The child has the key in an annotation. The owner gets it in the same annotation when a pass has seen the child, so that neither a restart nor
// another leader makes a second one. A child that somebody removes before any pass has seen it runs again: nobody can tell it from one that
// was never made.
//
// How a pod has ended is in [github.com/reconcilekit/reconcilekit/health/inspect.Run].
package runonce
