// Package apply is the words of a plan: which objects shall exist for an owner,
// field by field, what was decided about each of them, and what came of it. It
// sends nothing; package reconcile/apply/engine carries plans out.
//
// A [Plan] is the complete desired state of one owner. The engine orders it by
// kind, proves from cached objects which children are right already, sends one
// PATCH for each of the others, and removes what was applied before and is no
// longer planned:
//
//	var plan apply.Plan
//	plan.Apply(deployment, apply.Seed("spec.replicas"))
//	plan.Apply(secret, apply.Once)
//
// # Rules
//
//  1. What is set is owned. Nulls and empty structs from non-pointer fields
//     are not sent; scalars that Go serialises, set pointers and lists that
//     are empty but not nil are. The stringData of a Secret is sent as data.
//     So a struct that must be there although nothing in it is set cannot be
//     planned by a Go type whose field is no pointer: plan that object as
//     unstructured content, where an empty map is sent, or give the field of
//     a Go type of your own a pointer.
//  2. Nothing is sent when the managedFields of the live object show that our
//     manager owns exactly the planned fields and the values agree. Values
//     agree when they are the same JSON, or when they are one value in the Go
//     type that the API server itself decodes this field of this kind into:
//     there quantities have one form, a zero that is no pointer is absent,
//     and known defaults are filled in. Of custom resources only the defaults
//     of Gateway API are known. What cannot be decided costs one PATCH, whose
//     answer is remembered for the same intent.
//  3. Edits of owned fields are repaired with one PATCH. A field that another
//     manager applies is reported in a [ContestedError] and left alone, and so
//     is one that somebody changes again after five repairs in a minute; the
//     other fields of the child are applied. [Seed], [CreateOnly], [Force],
//     [Ignore] and [Absent] change that for single fields. A first write can only create,
//     and one that takes fields from others hits the version that was looked
//     at, so that neither takes what the cache does not show.
//  4. An object that this owner did not make is not taken over, see
//     [OwnedByAnotherError] and [Adoption]. The first write of a child can only
//     create it. Deletes carry the UID, applies to existing objects, too; none
//     of them hits a replacement. What is pruned is proven to be ours: our
//     manager owns its part-of label.
//  5. The owner's metadata says where its children are, as KEP-3659 (ApplySet)
//     has it: grown before the first write, shrunk after a live listing has
//     confirmed that nothing is left. Children carry the part-of label, except
//     those that are [Shared]. What the plan says about the owner's metadata,
//     see [Plan.Metadata], is apart from that.
//  6. A prune of most children needs a reason: a changed spec or changed
//     inputs. Otherwise it is blocked, see [PruneBlockedError]. After a
//     restart the status of the owner reports whether its spec has changed since,
//     and without a status any generation but the first is a change; changed
//     inputs are then not known, and the prune needs the annotation that the
//     error names.
//  7. What failed is not repeated at once while nothing has changed that could
//     help; the result asks for a requeue instead.
//
// The cache should show managedFields; [ShortenManagedFields] is a transform
// that keeps what is needed of them. Where it strips them, the engine says so
// at the first object that shows it, looks live at each child after a start,
// and compares what the cache shows with what it showed then; drift of what
// the cache strips besides is found by the next live look.
//
// Not supported are generateName, which is an error that says so, and objects
// without a UID such as reviews.
package apply
