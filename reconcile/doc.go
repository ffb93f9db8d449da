// Package reconcile defines the phases that the author of a controller implements, their arguments and their results. A
// reconciliation runs the phases, applies the plan and writes the status.
//
// An author implements [Reconciler], which has two phases, FetchRemoteState and PlanResources. Its type parameters are T
// (the owner), F (the fetched state) and O (the observation from which the plan is built; without a [Composer] it is F).
// Each other phase is an optional method, which the engine finds by its interface. The builder of reconcile/controller
// registers the reconciler. A reconciliation runs these steps in order:
//
//  1. Pause: an owner with the pause annotation is not changed. Migrate ([Migrator], optional) rewrites an owner of an
//     older form.
//  2. FetchRemoteState reads with a reader that records each read. Errors are returned inside [FetchResult].
//  3. ComposeState derives the observation ([Composer], optional).
//  4. PlanResources returns the complete desired state, or an error.
//  5. GetComponentHealth returns the health of each component ([Observation], optional; without it the engine inspects the
//     children after step 6, and with InspectChildren of controller.Options it does both).
//  6. The engine applies the plan, unless an error of planning, of the owner's spec, of a read or of an upstream component
//     ([FetchResult.Upstream]) blocks it. The health of the owner's own children never blocks it. ObserveApply
//     ([ApplyObserver], optional) receives the result.
//  7. The engine sets the conditions, calls DecorateStatus ([StatusDecorator], optional) and sets the summary and
//     observedGeneration. It writes the status once, and only when it changed.
//  8. The engine reports the stored transitions with events and logs.
//  9. The engine returns the [Outcome], which keeps every error and requeue.
//
// An event of the owner, of a child or of an object that FetchRemoteState has read triggers a reconciliation. For anything
// else, such as a time or a system outside the cluster, the plan requests one (RequeueAfter and RequeueAt of [PlanResult]).
//
// A child is an object that the plan applies, and the owner's inventory is the record of its children, which the engine
// stores in the owner's metadata. To prune is to delete a child that left the plan.
//
// For an owner that is being deleted the steps are pause, fetch, Finalize ([Finalizer], optional), apply and status
// ([DeletionDecorator], optional). The status is written while the owner still exists.
//
// # Error handling
//
//   - A failed read (NotFound is not a failure) blocks the apply and the prune, even when no component reports it.
//   - Infrastructure, Conflict and Unknown errors are retried with backoff. When the API server sent a Retry-After, or a
//     requeue is due earlier, the reconciliation returns that delay instead and logs the error itself.
//   - InvalidSpec, Auth and missing dependencies are reported in the conditions and are retried when something changes. A
//     write that the API server rejected permanently is retried after a minute, because its cause may not be watched.
//   - An error of planning blocks the apply and the prune. Its category decides the rest, as for other errors.
//   - A panic in a phase becomes a [PanicError]: nothing is applied, the status names the phase, and the log has the stack.
//
// # Related packages
//
// Package reconcile/controller registers controllers with a manager and provides the watches and the tracked reader.
// Package reconcile/apply writes objects. Names, routes and selections come from packages that this package does not
// import: a plan contains complete objects.
package reconcile
