// Package reconcile has what the author of a controller writes, and what that takes and returns: phases that fetch, compose and plan.
// A pass runs them, applies the plan and keeps the status.
//
// An author implements [Reconciler], which has two phases: FetchRemoteState and PlanResources, over the own types T (the owner),
// F (what was fetched) and O (what the plan is made from; where nothing is composed it is F). Each further phase is a method
// that an author writes where there is something to say, and is found by its interface. The builder of
// reconcile/controller wires it up; a pass is, in this order:
//
//  1. pause: an owner with the annotation is left alone;
//  2. FetchRemoteState reads, with a reader that remembers what was read; errors travel inside [FetchResult];
//  3. ComposeState derives the observation ([Composer], optional);
//  4. PlanResources returns the complete desired set, or an error;
//  5. GetComponentHealth reports how each part is ([Observation], optional; by default the children are inspected after step 6);
//  6. the set is applied, unless an error of planning, of the owner's spec, of a read or of an upstream component blocks it; the health
//     of the owner's own children never does;
//  7. the conditions, DecorateStatus ([StatusDecorator], optional), the summary and observedGeneration; one write, and none when nothing changed;
//  8. events and logs of the transitions that were stored;
//  9. the [Outcome], in which nothing is lost.
//
// The phases of an owner that is being deleted are pause, fetch, Finalize ([Finalizer], optional), apply, and status
// ([DeletionDecorator], optional) as long as something keeps the owner.
//
// # What follows from an error
//
//   - A read that failed (NotFound is no failure) blocks the apply and the prune, whether or not a component reports it.
//   - Infrastructure, Conflict and Unknown errors go to the backoff; with a Retry-After of the API server, or a requeue that
//     is planned earlier, the pass returns that instead and logs the error itself.
//   - InvalidSpec, Auth and missing dependencies are shown in the conditions and wait for a change. A write that the API
//     server refused for good is tried again after a minute, because its cause may not be watched.
//   - An error of planning blocks the apply and the prune, and goes on by its category as any other.
//   - A panic in a phase is a [PanicError]: nothing is applied, the status says which phase, the log has the stack.
//
// # What it does not do
//
// Wiring into a manager, watches and the tracked reader are in reconcile/controller; writing is in reconcile/apply. Names,
// routes and selections come from packages that this one does not import: it takes finished objects.
package reconcile
