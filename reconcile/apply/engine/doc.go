// Package engine carries plans out: it applies the children of an owner with
// server-side apply, prunes what is no longer planned, and sends nothing when
// nothing differs.
//
// A plan and its words are those of package apply, and so are the results.
// Controllers made by reconcile/controller have an engine already; an [Engine]
// of one's own is for a program without the pipeline.
//
//	e, err := engine.New(mgr.GetClient(), mgr.GetAPIReader(), apply.Options{FieldManager: "shop"})
//	...
//	result := e.Apply(ctx, owner, plan)
//
// The parts of a pass are in reconcile/apply/internal. A pass is decided first,
// which only reads: pass holds what is known of one owner and its children,
// decide turns a planned child into what has to be sent for it, ownership
// reports whose an object is, deletion and prune find what has to go, and
// inventory what the owner's metadata has to record. Then write and the others
// carry that out. What is remembered between passes is in memory.
package engine
