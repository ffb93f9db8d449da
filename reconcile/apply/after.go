package apply

import "sigs.k8s.io/controller-runtime/pkg/client"

// After orders a child or a deletion behind other objects of the same plan. The objects are identified by kind, namespace and name:
//
//	plan.Apply(migration)
//	plan.Apply(server, apply.After(migration))
//	plan.Delete(oldServer, apply.After(server))
//
// The engine writes server after migration, whatever their kinds. If both have to be written, it writes them in the same reconciliation.
// Until migration exists as planned, nothing is sent for server: it waits, as with [WaitUntil], which also has what waiting means. That is
// the case while the write of migration fails, is contested or blocked, or waits itself. An object that the plan deletes must be gone. After
// orders writes; to wait until an object is ready, use [WaitUntil].
//
// Deletion has the reverse order. If server and migration leave the plan together, or their owner is deleted, the engine deletes server and
// deletes migration when server is gone. For this order it records the objects in an annotation of the child and adds its finalizer to the
// owner. It applies to children in the modes [Own] and [Once], which may be ordered behind [Shared] objects and contributions as well. A
// child in the mode [Once] keeps the order with which it was created.
//
// An object that the plan neither applies nor deletes makes the plan invalid, and so does a cycle; the error names the objects. An object of
// an optional kind that is not installed is ignored. Resources outside the cluster cannot be ordered.
func After(objects ...client.Object) interface {
	ChildOption
	DeletionOption
} {
	return after(objects)
}

type after []client.Object

var (
	_ ChildOption    = after(nil)
	_ DeletionOption = after(nil)
)

// ApplyToChild adds the objects to those that the child comes after.
func (a after) ApplyToChild(c *Child) { c.After = append(c.After, a...) }

// ApplyToDeletion adds the objects to those that the deletion comes after.
func (a after) ApplyToDeletion(d *Deletion) { d.After = append(d.After, a...) }
