// Package engine carries out plans: it applies the children of an owner with
// server-side apply, deletes what is no longer planned, and sends nothing when
// nothing differs.
//
// Plans, decisions and results are types of package apply. Controllers of
// reconcile/controller have an engine already; create an [Engine] for a program
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
// Observe collects what is known of the owner, its children and the objects that
// exist:
//
//	pass.go, child.go, env.go   the state of a pass, of a child, of the engine
//	options.go, kinds.go        defaults of the options; declared and kept kinds
//	names.go                    field managers, labels and annotations
//	resolve.go                  kind, name and memory of each planned child
//	inventory_read.go           the kinds and namespaces that the owner records
//	owner_*.go                  metadata and observed generation of the owner
//	ownership.go                whether an object is a child of the owner
//
// Decide compares that with the plan, and only reads:
//
//	suspend.go, decide_wait.go  children that stay as they are, or wait
//	deletion.go                 planned deletions, which are carried out here, too
//	decide.go                   one child, in stages; the other decide_*.go files
//	                            have one stage or rule each
//	prune.go                    objects that are no longer planned; prune_listing.go
//	                            finds them, prune_guard.go holds them back
//	diff*.go                    decisions for Engine.Diff, with the fields that change
//
// Execute sends requests and remembers the answers:
//
//	inventory_record.go         the inventory, before and after the children
//	write.go                    children, rank by rank; write_patch.go sends an
//	                            apply, write_refusal.go handles a refusal, and
//	                            write_answer.go learns from the answer
//	prune_execute.go            deletions of objects that left the plan
//	prune_release.go            contributions that are given back
//	prune_shrink.go             the inventory without what is gone
//
// Packages in reconcile/apply/internal do the rest: content encodes and hashes
// objects, fieldset reads managedFields and compares, intent resolves planned
// children, applyset formats the inventory, and memory keeps what is remembered
// between passes.
package engine
