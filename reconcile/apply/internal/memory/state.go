package memory

import (
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// Child is the memory of one child, a few hundred bytes. Its methods record events of the child and answer what follows for the next pass.
type Child struct {
	// gvk and mode are those of the last plan.
	gvk  unique.Handle[schema.GroupVersionKind]
	mode apply.Mode
	// sentOnce reports that the last plan has values that are sent once.
	sentOnce bool
	// retries is the number of applies of the intent that the server has changed.
	retries uint8
	// proven reports that intent, version and projection are valid.
	proven bool
	// pass is the last pass that planned or deleted the child.
	pass uint32
	// since and last are the first and the last of the consecutive passes that planned the child.
	since, last uint32
	// intent is the hash of the intent that was proven or applied, version the resourceVersion of the proof, and projection the hash of
	// the engine's fields in it.
	intent     uint64
	version    string
	projection uint64
	// overridden is the answer to the intent with other values in planned fields, nil if all agree.
	overridden *overridden
	// shape is the hash of the values at the intent's paths, for caches without managedFields.
	shape uint64
	// owned are the engine's fields in that version; ownedOf is the UID of their object.
	owned   OwnedFields
	ownedOf types.UID
	// uid is the UID of the object last seen or written.
	uid types.UID
	// ours is the UID of the object that was proven to be a child of the owner.
	ours types.UID
	// unprovenAt is the resourceVersion for which a live read found no proof that the object is a child, zero for none.
	unprovenAt unique.Handle[string]
	// written is the engine's last write, until the cache shows it.
	written freshness.Write
	// deleted is the last accepted deletion, nil if something was written since.
	deleted *deletion
	// losses counts how often others have deleted the object.
	losses *losses
	// recreation is the last deletion to recreate the child, nil for none.
	recreation *recreation
	// failure is the last failure, nil if there is none.
	failure *Failure
	// contest are the contested fields, nil for none; repairs counts the repairs of single fields and of the object.
	contest *Contest
	repairs map[string]repair
}

// deletion is an accepted deletion of an object.
type deletion struct {
	uid types.UID
	at  time.Time
}

// Contest are the fields of a child on which other managers insist. They are left alone until the plan or their managedFields entries
// change, or until a time. The rest of the child is applied.
type Contest struct {
	Fields []apply.ContestedField
	// Absent are the paths of fields that the plan wants absent.
	Absent []string
	// Intent, UID and Managers identify the situation.
	Intent   uint64
	UID      types.UID
	Managers uint64
	// Until is the time of the next attempt.
	Until time.Time
	// count is the number of consecutive contests.
	count int
}

// repair counts the repairs of a field since a time.
type repair struct {
	count int
	since time.Time
}

// Failure is why a child could not be applied or deleted, so that an unchanged plan does not repeat the request at once.
type Failure struct {
	Situation
	// Outcome and Err are the result of the request.
	Outcome apply.Outcome
	Err     error
	// Version is the version of the refused object. If the cache strips managedFields, it represents the fields of other managers.
	Version string
	// Until is the time of the next attempt.
	Until time.Time
	// count is the number of consecutive failures.
	count int
}

// Situation identifies a failed request. A request in another situation is sent at once.
type Situation struct {
	// Intent is the hash of the intent, 0 for a deletion.
	Intent uint64
	// UID is the UID of the existing object, empty for none.
	UID types.UID
	// Others is the hash of the other managers of the object.
	Others uint64
}

// losses counts how often others have deleted a child soon after its creation.
type losses struct {
	count int
	// made is the time of the last creation; the child is left alone until until.
	made, until time.Time
}
