// Package engine carries out plans: it applies the children of an owner with
// server-side apply, deletes objects that left the plan, and sends nothing
// when nothing differs.
//
// Plans, decisions and results are types of package apply. Controllers of
// reconcile/controller contain an engine; create an [Engine] for a program
// without them:
//
//	e, err := engine.New(mgr.GetClient(), mgr.GetAPIReader(), apply.Options{FieldManager: "shop"})
//	...
//	result := e.Apply(ctx, owner, plan)
//
// # Implementation
//
// One call of [Engine.Apply] or [Engine.Diff] is a pass over one owner. It has
// three steps, which decideAll and carryOut in engine.go call in order.
//
// Observe reads the owner, its children, the existing objects and the memory
// of earlier passes:
//
//	pass.go, env.go, facts.go   the state of a pass and of the engine; facts are
//	                            the part of it on which decisions depend
//	options.go, kinds.go        defaults of the options; declared and kept kinds
//	names.go                    field managers, labels and annotations
//	resolve.go                  kind, name and memory of each planned child
//	observe.go                  one child: the object and what the memory recalls
//	inventory_read.go           the kinds and namespaces that the owner records
//	owner_*.go                  metadata and observed generation of the owner
//	prune_listing.go            the objects that may have left the plan; their
//	                            kinds come from the inventory and the options
//	ownership.go                whether an object is a child of the owner
//
// Decide compares them with the plan. The decision about a child, and the one
// about what left the plan, are pure functions of an observation. child.go
// observes more if a decision needs it, and lets the memory learn from it:
//
//	decide.go                   the decision and its stages
//	decide_claim.go             whether the object may be written
//	decide_compare.go           whether it differs from the plan
//	decide_contest.go           fields on which other managers insist
//	decide_rules.go             seeds and fields that are sent once
//	decide_former.go            fields of former managers, and lost ownership
//	prune_decide.go             what is deleted and given back; prune_guard.go
//	                            keeps what no change explains. prune.go calls
//	                            the steps of a prune in order
//
// The other decisions of a pass also read:
//
//	suspend.go, decide_wait.go  children that stay unchanged, or wait
//	deletion.go                 planned deletions, and their execution
//	diff*.go                    decisions for Engine.Diff, with the fields that change
//
// Execute sends requests and remembers the answers:
//
//	inventory_record.go         the inventory, before and after the children
//	write.go                    children, rank by rank; write_patch.go sends an
//	                            apply, write_refusal.go handles a refusal, and
//	                            write_answer.go processes the answer
//	prune_execute.go            deletions of objects that left the plan
//	prune_release.go            contributions that are given back
//	prune_shrink.go             removal of confirmed entries from the inventory
//
// The packages in reconcile/apply/internal support these steps: content
// encodes and hashes objects, fieldset reads managedFields and compares,
// intent resolves planned children, applyset formats the inventory, and memory
// stores the state between passes.
package engine
