package engine

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// config has the options of an engine and what follows from them. It can neither read nor write objects.
type config struct {
	options apply.Options
	encoder *content.Encoder
	hasher  *intent.Hasher
	// standardKeys and ownKeys are the two sets of names for an inventory.
	standardKeys, ownKeys applyset.Keys
}

func newConfig(o apply.Options) config {
	encoder := content.NewEncoder()
	return config{
		options: o, encoder: encoder, hasher: intent.NewHasher(encoder),
		standardKeys: applyset.StandardKeys(o.Domain), ownKeys: applyset.KeysOf(o.Domain, o.FieldManager),
	}
}

// ours reports whether the manager is, or was, a field manager of this controller.
func (s *config) ours(manager string) bool {
	return manager == s.options.FieldManager || slices.Contains(s.options.FormerManagers, manager)
}

// holdsData reports whether the kind is one of [apply.Options.GuardedKinds].
func (s *config) holdsData(gk schema.GroupKind) bool {
	return slices.Contains(s.options.GuardedKinds, gk)
}

// facts are what the decisions of a pass depend on, apart from the plan and the children. The pass sets them before it decides.
type facts struct {
	*config
	owner     client.Object
	ownerKind *intent.Kind
	group     groupkey.Group // the owner, if it is a group
	finalize  bool           // the owner is being deleted
	now       time.Time
	dry       bool // the decisions are not carried out
	// setID is the value of the part-of label, keys are the names for the inventory, and sets are the sets to which children may belong.
	setID string
	keys  *applyset.Keys
	sets  memory.Sets
	// contributor is the field manager for contributions and shared objects.
	contributor string
	// allowPrune is the wanted value of the owner's allow-prune annotation.
	allowPrune string
	// adopted are the objects from a backup that the owner's annotation permits to adopt.
	adopted map[types.UID]bool
}
