package memory

import (
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// Child is what is remembered about one child: a few hundred bytes. Its methods
// say what has happened to the child; what follows from that for the next pass
// is decided here.
type Child struct {
	// gvk and mode are those of the last plan.
	gvk  unique.Handle[schema.GroupVersionKind]
	mode apply.Mode
	// sentOnce reports that the last plan has values that are sent once.
	sentOnce bool
	// retries counts the applies of the intent that the server has not taken
	// as they are.
	retries uint8
	// intent is the hash of the intent that was proven or applied, version the
	// resourceVersion that it was proven with, projection the hash of our
	// fields in it. They say nothing unless proven is set.
	proven     bool
	intent     uint64
	version    string
	projection uint64
	// overridden is the answer to the intent that has other values in planned
	// fields, nil if it has the planned ones.
	overridden *overridden
	// shape is the projection by the intent's own shape, for caches without
	// managedFields.
	shape uint64
	// owned are our fields in that version, ownedOf is the object that it is of.
	owned   OwnedFields
	ownedOf types.UID
	// uid is the object last seen or written.
	uid types.UID
	// ours is the object that was proven to be a child of the owner.
	ours types.UID
	// written is our last write, until the cache shows it.
	written freshness.Write
	// deleted is the last deletion that was accepted, nil when something was
	// written since.
	deleted *deletion
	// pass is the last pass that planned the child, or deleted it.
	pass uint64
	// since and last are the first and the last of the passes in a row that
	// planned it.
	since, last uint64
	// losses counts how often others have deleted the object.
	losses *losses
	// recreation is the last deletion to recreate the child.
	recreation recreation
	// failure is set while something is wrong.
	failure *Failure
	// contest is set while fields are left to others, repairs counts those of
	// single fields, and of the object.
	contest *Contest
	repairs map[string]repair
}

// deletion is an accepted deletion of an object.
type deletion struct {
	uid types.UID
	at  time.Time
}

// Contest is what others insist on in a child. These fields are left to them
// until the plan or their entries in the managedFields change, or for a time;
// the rest of the child is applied.
type Contest struct {
	Fields []apply.ContestedField
	// Absent are the paths of those that the plan wants absent.
	Absent []string
	// Intent, UID and Managers identify the situation.
	Intent   uint64
	UID      types.UID
	Managers uint64
	// Until is when the fields are tried again.
	Until time.Time
	// count is how often in a row.
	count int
}

// repair counts how often a field was repaired since a time.
type repair struct {
	count int
	since time.Time
}

// Failure is why a child could not be applied or deleted, so that an unchanged
// plan does not send the same request again at once.
type Failure struct {
	Situation
	// Outcome and Err are those of the request.
	Outcome apply.Outcome
	Err     error
	// Version is that of the object that was refused. Where the cache strips
	// managedFields, it stands for what others own.
	Version string
	// Until is when it is tried again.
	Until time.Time
	// count is how often it happened in a row.
	count int
}

// Situation identifies what failed; in another one it is tried at once.
type Situation struct {
	// Intent is the hash of the intent, 0 for a deletion.
	Intent uint64
	// UID is the object that exists, empty for none.
	UID types.UID
	// Others is the hash of the other managers of the object.
	Others uint64
}

// losses counts how often others have deleted a child soon after it was made.
type losses struct {
	count int
	// made is when the child was last made, until when it is left alone.
	made, until time.Time
}
