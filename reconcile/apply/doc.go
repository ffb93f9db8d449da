// Package apply defines plans, decisions and results. It performs no I/O; package reconcile/apply/engine carries plans out.
//
// A [Plan] is the complete desired state of one owner. The engine orders the
// children by kind, proves from cached objects which of them are as planned,
// sends one PATCH for each of the others, and prunes objects that were applied
// before and have left the plan. One run of the engine over an owner is a pass;
// a reconciliation has one.
//
//	var plan apply.Plan
//	plan.Apply(deployment, apply.Seed("spec.replicas"))
//	plan.Apply(secret, apply.Once)
//
// # Rules
//
//  1. The engine owns the fields that are set. Nulls and empty structs from
//     non-pointer fields are not sent. Scalars that Go serialises, set
//     pointers, and lists that are empty but not nil are sent. The stringData
//     of a Secret is sent as data. To plan an empty struct whose Go field is
//     no pointer, plan unstructured content, where an empty map is sent, or
//     declare a Go type of your own with a pointer.
//  2. The engine sends nothing when the managedFields of the live object show
//     that its field manager owns exactly the planned fields and the values
//     agree. Values agree when their JSON is equal, or when they are equal in
//     the Go type into which the API server decodes the field: there
//     quantities have one form, a zero that is no pointer is absent, and known
//     defaults are filled in. For custom resources only the defaults of
//     Gateway API are known. In undecidable cases the engine sends one PATCH
//     and remembers the answer for the same intent.
//  3. The engine reverts edits of owned fields with one PATCH. It reports a
//     field that another manager applies in a [ContestedError] and leaves it
//     alone. The same holds for a field that changes again after five repairs
//     within a minute. The other fields of the child are applied. [Seed],
//     [CreateOnly], [Force], [Ignore] and [Absent] change this for single
//     fields. The first write can only create the object, and a write that
//     takes fields from other managers is pinned to the version that was read.
//     Neither overwrites a state that the cache does not show.
//  4. The engine does not take over an object that this owner did not create,
//     see [OwnedByAnotherError] and [Adoption]. Deletes, and applies to
//     existing objects, carry the UID, so that they never affect a
//     replacement. An object is pruned only if the engine's field manager owns
//     its part-of label.
//  5. The owner's metadata records where its children are, as specified by
//     KEP-3659 (ApplySet). This inventory grows before the first write and
//     shrinks after a live listing has confirmed that nothing is left.
//     Children carry the part-of label, except [Shared] ones and those of a
//     [History]. Metadata that a plan sets on the owner is separate, see [Plan.Metadata].
//  6. A prune of most children requires a changed spec or changed inputs,
//     which are what the plan names in [Plan.Inputs]. Otherwise it is blocked, see [PruneBlockedError]. After a restart the
//     engine compares the generation of the owner with the one in its status.
//     Without a status any generation but the first counts as a change.
//     Changed inputs are unknown after a restart; such a prune needs the
//     annotation that the error names.
//  7. The engine does not repeat a failed request at once while nothing
//     relevant has changed. The result asks for a requeue instead.
//
// The cache should show managedFields; [ShortenManagedFields] is a transform
// that keeps the part that the engine needs. If the cache strips them, the
// engine logs that once per kind, reads each child live after a start, and
// compares later cached values with the first ones. Drift in parts that the
// cache strips is found by the next live read.
//
// generateName is not supported and is an error. Objects without a UID, such
// as reviews, are not supported either.
package apply
