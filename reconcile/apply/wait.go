package apply

// WaitUntil delays a child or a deletion until a condition is met, such as a server until its database is ready:
//
//	plan.Apply(database)
//	plan.Apply(server, apply.WaitUntil(o.databaseReady, "the database is ready"))
//
// A waiting child counts as planned: it is neither pruned nor given back, and a child that it may replace is kept. While met is false the
// engine sends nothing for it. A missing child is not created, and an existing child is not changed, even if it has drifted. Its decision
// has the reason Waiting, which diff, preview and explain show, and the owner is not Ready. The engine requests no requeue: an event for
// an input of the plan triggers the next pass.
//
// The plan of a Finalize phase, or of a feature that is switched off, uses the reverse order. An owner that is being deleted keeps its
// finalizer while anything waits:
//
//	plan.Delete(server)
//	plan.Delete(database, apply.WaitUntil(!o.serverExists, "the server is gone"))
//
// The text completes the sentence "waits until". If several conditions are not met, the first is reported.
func WaitUntil(met bool, what string) interface {
	ChildOption
	DeletionOption
} {
	if met {
		what = ""
	} else if what == "" {
		what = "a condition without a name is met"
	}
	return waitUntil(what)
}

type waitUntil string

var (
	_ ChildOption    = waitUntil("")
	_ DeletionOption = waitUntil("")
)

// ApplyToChild adds the condition if it is not met.
func (w waitUntil) ApplyToChild(c *Child) { c.WaitsUntil = w.after(c.WaitsUntil) }

// ApplyToDeletion adds the condition if it is not met.
func (w waitUntil) ApplyToDeletion(d *Deletion) { d.WaitsUntil = w.after(d.WaitsUntil) }

func (w waitUntil) after(first string) string {
	if first != "" {
		return first
	}
	return string(w)
}
