package engine

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// pass is one [Engine.Apply].
type pass struct {
	ctx       context.Context //nolint:containedctx // lives as long as the call
	env       *env
	owner     client.Object
	ownerKind *intent.Kind
	group     groupkey.Group // the owner, if it is a group
	setID     string         // the value of the part-of label
	keys      *applyset.Keys
	plan      *apply.Plan
	finalize  bool
	dry       bool // not carried out
	memory    *memory.Owner
	now       time.Time
	children  []*child
	// ownerChild is what is planned of the metadata of the owner, nil for nothing.
	ownerChild *child
	pool       *[]child // what children point into, given back at the end
	// identity is the hash of which objects are planned, and how, and of
	// whether the owner is held.
	identity uint64
	// incomplete is why the planned objects are not all known, unknown the
	// same for single kinds.
	incomplete error
	unknown    map[schema.GroupKind]error
	// What was decided besides the children: the deletions, and the inventory
	// to record before anything is written, nil if it stays.
	deletions []*deletion
	wanted    *applyset.Inventory
	// allowPrune is what the owner's annotation of that name shall say.
	allowPrune string
	result     apply.Result
}

// env is what all passes of an engine share. Nothing of it is about a single
// owner.
type env struct {
	client    client.Client
	live      client.Reader
	options   apply.Options
	kinds     *intent.Kinds
	encoder   *content.Encoder
	hasher    *intent.Hasher
	leftovers memory.Census
	stripped  sync.Map  // *kind to nothing: the cache strips managedFields
	orphaned  sync.Map  // types.UID to nothing: owners whose children are to stay
	pool      sync.Pool // of *[]planned, zeroed
	declared  declaredKinds
	// standardKeys and ownKeys name the two places for an inventory.
	standardKeys, ownKeys applyset.Keys
	// cached are the options of reads that only look at the result and that
	// handle a lagging cache themselves.
	cached     []client.GetOption
	cachedList []client.ListOption
}

// child is one child during a pass.
type child struct {
	planned *apply.Child
	kind    *intent.Kind
	id      applyset.ObjectID
	hash    uint64
	memory  *memory.Child
	// member reports that the child carries the part-of label.
	member bool
	// reach reports that an owner reference from owner to child is possible.
	reach bool
	// manager is the field manager it is written under.
	manager string
	rules   []intent.Rule
	// live is the object as known, nil if it does not exist; Cached reports that
	// it is shared with the cache.
	live client.Object
	// renewed reports that this pass has looked for defaults of an earlier plan.
	renewed bool
	// answer is the object that the API server has returned for the last write, nil for none.
	answer client.Object
	// recall is what is remembered of the child and matters for that object,
	// observed what was compared of it.
	recall   memory.Recall
	observed fieldset.Observation
	// UID pins the object that is written.
	uid     types.UID
	content map[string]any
	action  action
	force   bool
	// fresh reports that live was read from the API server in this pass.
	fresh bool
	// sentOnce are the fields that are sent once and that the object has.
	sentOnce []sentOnce
	// contested are the fields that are left out of the content, as others
	// insist on them.
	contested []apply.ContestedField
	// repairs is how often the object was repaired lately for this intent, with this pass; 0 if that was not counted yet.
	repairs int
	// leftSeeds are the paths of seeds that are left out of the content, as the
	// server has said that they are others'.
	leftSeeds []string
	// unwanted are the fields that the object has and that the plan wants
	// absent.
	unwanted []fieldset.Place
	// lostAbsent are the paths of those of the contested fields that the plan
	// wants absent.
	lostAbsent []string
	result     apply.ObjectResult
	requeue    time.Duration
}

// action is what has to be sent for a child.
type action int

// deletion is one deletion of the plan during a pass.
type deletion struct {
	*apply.Deletion
	kind *intent.Kind
	id   applyset.ObjectID
	// version is the precondition besides the UID, empty for none.
	version string
	// finalizers are those of an object that is being deleted already.
	finalizers []string
	result     apply.ObjectResult
}

// declaredKinds are the kinds of the options, nil if there are none: an engine
// without them knows only what plans name.
type declaredKinds map[schema.GroupKind]apply.ChildKind

// sentOnce is a field that is sent once and that the object has.
type sentOnce struct {
	path fieldset.Path
	want any
}
