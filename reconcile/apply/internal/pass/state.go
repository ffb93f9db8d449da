package pass

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

// Pass is one [engine.Engine.Apply].
type Pass struct {
	Ctx       context.Context //nolint:containedctx // lives as long as the call
	Env       *Env
	Owner     client.Object
	OwnerKind *intent.Kind
	Group     groupkey.Group // the owner, if it is a group
	SetID     string         // the value of the part-of label
	Keys      *applyset.Keys
	Plan      *apply.Plan
	Finalize  bool
	Dry       bool // not carried out
	Memory    *memory.Owner
	Now       time.Time
	Children  []*Child
	// OwnerChild is what is planned of the metadata of the owner, nil for nothing.
	OwnerChild *Child
	pool       *[]Child // what children point into, given back at the end
	// Identity is the hash of which objects are planned, and how, and of
	// whether the owner is held.
	Identity uint64
	// Incomplete is why the planned objects are not all known, unknown the
	// same for single kinds.
	Incomplete error
	Unknown    map[schema.GroupKind]error
	// What was decided besides the children: the deletions, and the inventory
	// to record before anything is written, nil if it stays.
	Deletions []*Deletion
	Wanted    *applyset.Inventory
	// AllowPrune is what the owner's annotation of that name shall say.
	AllowPrune string
	Result     apply.Result
}

// Env is what all passes of an engine share. Nothing of it is about a single
// owner.
type Env struct {
	Client    client.Client
	Live      client.Reader
	Options   apply.Options
	Kinds     *intent.Kinds
	Encoder   *content.Encoder
	Hasher    *intent.Hasher
	Leftovers memory.Census
	Stripped  sync.Map  // *kind to nothing: the cache strips managedFields
	Orphaned  sync.Map  // types.UID to nothing: owners whose children are to stay
	pool      sync.Pool // of *[]planned, zeroed
	Declared  declaredKinds
	// StandardKeys and OwnKeys name the two places for an inventory.
	StandardKeys, OwnKeys applyset.Keys
	// Cached are the options of reads that only look at the result and that
	// handle a lagging cache themselves.
	Cached     []client.GetOption
	CachedList []client.ListOption
}

// Child is one child during a pass.
type Child struct {
	Planned *apply.Child
	Kind    *intent.Kind
	ID      applyset.ObjectID
	Hash    uint64
	Memory  *memory.Child
	// Member reports that the child carries the part-of label.
	Member bool
	// Reach reports that an owner reference from owner to child is possible.
	Reach bool
	// Manager is the field manager it is written under.
	Manager string
	Rules   []intent.Rule
	// Live is the object as known, nil if it does not exist; Cached reports that
	// it is shared with the cache.
	Live client.Object
	// Renewed reports that this pass has looked for defaults of an earlier plan.
	Renewed bool
	// Answer is the object that the API server has returned for the last write, nil for none.
	Answer client.Object
	// Recall is what is remembered of the child and matters for that object,
	// Observed what was compared of it.
	Recall   memory.Recall
	Observed fieldset.Observation
	// UID pins the object that is written.
	UID     types.UID
	Content map[string]any
	Action  Action
	Force   bool
	// Fresh reports that Live was read from the API server in this pass.
	Fresh bool
	// SentOnce are the fields that are sent once and that the object has.
	SentOnce []SentOnce
	// Contested are the fields that are left out of the content, as others
	// insist on them.
	Contested []apply.ContestedField
	// Repairs is how often the object was repaired lately for this intent, with this pass; 0 if that was not counted yet.
	Repairs int
	// LeftSeeds are the paths of seeds that are left out of the content, as the
	// server has said that they are others'.
	LeftSeeds []string
	// Unwanted are the fields that the object has and that the plan wants
	// absent.
	Unwanted []fieldset.Place
	// LostAbsent are the paths of those of the contested fields that the plan
	// wants absent.
	LostAbsent []string
	Result     apply.ObjectResult
	Requeue    time.Duration
}

// Action is what has to be sent for a child.
type Action int

// Deletion is one deletion of the plan during a pass.
type Deletion struct {
	*apply.Deletion
	Kind *intent.Kind
	ID   applyset.ObjectID
	// Version is the precondition besides the UID, empty for none.
	Version string
	// Finalizers are those of an object that is being deleted already.
	Finalizers []string
	Result     apply.ObjectResult
}

// declaredKinds are the kinds of the options, nil if there are none: an engine
// without them knows only what plans name.
type declaredKinds map[schema.GroupKind]apply.ChildKind

// SentOnce is a field that is sent once and that the object has.
type SentOnce struct {
	Path fieldset.Path
	Want any
}
