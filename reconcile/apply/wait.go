package apply

// WaitUntil holds a child or a deletion back until a condition is met, such as a server until its database is ready:
//
//	plan.Apply(database)
//	plan.Apply(server, apply.WaitUntil(o.databaseReady, "the database is ready"))
//
// What waits is planned like everything else: it is neither pruned nor given back, and a child that may take the place of another
// one keeps that one. While met is false nothing is sent for it: a child that does not exist is not created, and one that exists
// stays as it is, drift included. Its decision has the reason Waiting, so that diff, preview and explain show what it waits for, and
// the owner is not Ready. Nothing is asked again after a time: whatever the plan is made from triggers the next pass.
//
// The way back is the same in reverse, in the plan of a Finalize or of a feature that was switched off. An owner that is being
// deleted keeps its finalizer as long as anything waits:
//
//	plan.Delete(server)
//	plan.Delete(database, apply.WaitUntil(!o.serverExists, "the server is gone"))
//
// The text completes the sentence "waits until". Of several conditions the first that is not met is reported.
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

// ApplyToChild adds the condition, if it is not met.
func (w waitUntil) ApplyToChild(c *Child) { c.WaitsUntil = w.after(c.WaitsUntil) }

// ApplyToDeletion adds the condition, if it is not met.
func (w waitUntil) ApplyToDeletion(d *Deletion) { d.WaitsUntil = w.after(d.WaitsUntil) }

func (w waitUntil) after(first string) string {
	if first != "" {
		return first
	}
	return string(w)
}
