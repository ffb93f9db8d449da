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
package engine
