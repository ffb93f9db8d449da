package memory

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// Guard is what is remembered of the last complete plan of an owner.
type Guard struct {
	// Known reports that there was one; generation and inputs are what it was
	// made from.
	Known      bool
	Generation int64
	Inputs     string
	// First is the identity of the first plan that was made from them, Open
	// reports that its prune is explained by their change and not done yet. Later
	// plans of the same generation and inputs are guarded, whatever fails.
	First uint64
	Open  bool
}

// Place is where children of a kind may be.
type Place struct {
	Kind      schema.GroupKind
	Namespace string
}

// Part is an object of which the owner has a part, and when it was looked at.
// Whoever acts on it pins its version.
type Part struct {
	Found *metav1.PartialObjectMetadata
	At    time.Time
}

// Member is an object of the set of an owner.
type Member struct {
	GVK schema.GroupVersionKind
	ID  applyset.ObjectID
	UID types.UID
}

// Prune is what is remembered about the last prune of an owner.
type Prune struct {
	// Clean reports that the last listing found nothing to prune, for the plan
	// with this identity, at that time.
	Clean    bool
	Identity uint64
	At       time.Time
	// Planned is the identity of the last complete plan, Since and SincePass are
	// the time and the pass in which it was made first. Existed is how many of its members
	// existed then, Seen are the objects that were no longer planned then.
	Planned   uint64
	Since     time.Time
	SincePass uint64
	Existed   int
	Seen      map[types.UID]struct{}
	// First is when this process first listed for the owner.
	First time.Time
	// Failures counts the passes in a row that could not list or shrink.
	Failures int
	// OptedOut are the members that the last listing found opted out and not planned.
	OptedOut []Member
	// Retired is when retired kinds of a group were last searched to the end.
	Retired time.Time
	// Held is what the last listing has left alone because it is not known what
	// is wanted, nil if there was nothing.
	Held *apply.PruneBlockedError
	// Empty is where, and when, a pass over an owner that is being deleted has
	// found nothing.
	Empty map[Place]time.Time
	// Waiting is since when the deletion of the owner waits for the deletion of something else, zero if it does not.
	Waiting time.Time
	// Parts are the parts that were left alone, as they were looked at.
	Parts map[applyset.ObjectID]Part
	// Absent is since when a kind is not served, as far as a deletion of the
	// owner has to know.
	Absent map[schema.GroupKind]time.Time
}
