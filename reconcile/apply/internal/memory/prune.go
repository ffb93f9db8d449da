package memory

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// Guard is the state of the last complete plan of an owner.
type Guard struct {
	// Known reports that there was a plan; generation and inputs are those of the plan.
	Known      bool
	Generation int64
	Inputs     string
	// First is the identity of the first plan for this generation and inputs. Open reports that their change explains its prune, and the
	// prune is not complete yet. Later plans of the same generation and inputs are guarded, whatever fails.
	First uint64
	Open  bool
}

// Place is a kind and a namespace that may have children.
type Place struct {
	Kind      schema.GroupKind
	Namespace string
}

// Part is an object in which the owner has a part, with the time of the last read. Requests for it must be pinned to its version.
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

// Prune is the state of the last prune of an owner.
type Prune struct {
	// Clean reports that the last listing found nothing to prune; identity and time are those of that listing.
	Clean    bool
	Identity uint64
	At       time.Time
	// FirstPass and Since are the pass and the time of the first complete plan of this process. Seen are the objects out of the plan that
	// existed then, or that an earlier plan of this process had.
	FirstPass uint32
	Since     time.Time
	Seen      map[types.UID]struct{}
	// Planned is the identity of the last complete plan. SincePass is the pass in which it was first made. Existed is the number of its
	// members that existed then.
	Planned   uint64
	SincePass uint32
	Existed   int
	// First is the time of the first listing of this process for the owner.
	First time.Time
	// Failures is the number of consecutive passes that could not list or shrink.
	Failures int
	// OptedOut are the unplanned members that had opted out at the last listing.
	OptedOut []Member
	// Retired is the time of the last complete search for retired kinds of a group.
	Retired time.Time
	// Held are the objects that the last listing has kept because their desired state is unknown, nil if there were none.
	Held *apply.PruneBlockedError
	// Empty are the places, with the time, in which a pass over an owner that is being deleted has found nothing.
	Empty map[Place]time.Time
	// Waiting is the time since which the deletion of the owner waits for another deletion, zero if it does not.
	Waiting time.Time
	// Parts are the parts that were left alone, as last read.
	Parts map[applyset.ObjectID]Part
	// Absent is the time since which a kind is not served, for the deletion of the owner.
	Absent map[schema.GroupKind]time.Time
}
