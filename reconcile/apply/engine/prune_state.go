package engine

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// pruning decides and carries out, for one pass, what is removed because it is
// no longer planned.
type pruning struct {
	*pass
	// spent are the requests sent to look for what is no longer planned.
	spent int
	// due reports that there is something to carry out, or to confirm.
	due bool
	// surplus are the members to delete, releases the contributions to give
	// back.
	surplus  []*surplusMember
	releases []*plannedRelease
	// shrunk is the inventory without what is gone, when that is known before
	// anything is carried out; nil otherwise.
	shrunk *applyset.Inventory
	// announced reports that the prune is large and explained, which the owner has
	// to say while it lasts.
	announced bool
	// held reports that the guard has left some of it alone.
	held    bool
	listing *listing
	// ofSet selects the members, once a list has asked for them.
	ofSet client.ListOption
}

// surplusMember is a member that is no longer planned.
type surplusMember struct {
	memberObject
	result apply.ObjectResult
}

// plannedRelease is a contribution that is recorded and no longer planned.
type plannedRelease struct {
	id     applyset.ObjectID
	result apply.ObjectResult
	// found is the object as it was looked at, nil if it does not exist.
	found *metav1.PartialObjectMetadata
	// looked is when that was.
	looked time.Time
	// kept reports that it stays recorded, as nobody has looked for it, or as
	// the object is planned in another mode in which the part stays.
	kept bool
	// later reports that the next pass decides about it again.
	later bool
}

// listing is what one pass found out about the members of its set, kind by kind:
// what is not known of one kind keeps nothing of another.
type listing struct {
	members []memberObject
	// unknown are kinds of which nothing may be pruned, with the reason.
	unknown map[schema.GroupKind]error
	// open are kinds that stay in the inventory although nothing is planned
	// and nothing was found of them: nobody has confirmed that there is nothing.
	open map[schema.GroupKind]struct{}
	// absent are kinds that the API server does not serve.
	absent []schema.GroupKind
	// failed are the errors of lists.
	failed []error
	// searched are the recorded namespaces without a planned child that were
	// searched for members of the kinds that are listed live.
	searched []string
	// more reports that the requests of one pass were not enough.
	more bool
	// scanned reports that all members are planned, as a census has found.
	scanned bool
}

// memberObject is one object that is proven to be a child of the owner.
type memberObject struct {
	id  applyset.ObjectID
	gvk schema.GroupVersionKind
	uid types.UID
	// version is the one in which that was proven.
	version  string
	deleting bool
	// finalizers are those that it has.
	finalizers []string
	// heldBy are the finalizers that keep it although its deletion should have ended.
	heldBy  []string
	planned bool
	// created is when the API server created it.
	created time.Time
	// unknown reports that this process has neither planned nor seen it.
	unknown bool
	// holdsData reports that it is never deleted without a known reason.
	holdsData bool
	// reached reports that garbage collection deletes it with the owner.
	reached bool
	// optedOut reports that somebody has taken it out of our hands.
	optedOut bool
	// allowPrune is what the annotation of that name says on a child of a
	// group, which has no object of its own to put it on.
	allowPrune string
}
