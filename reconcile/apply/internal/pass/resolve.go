package pass

import (
	"fmt"
	"hash/maphash"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/naming"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
)

var (
	errNoNamespace = intent.PlanError("child: metadata.namespace is empty, and the owner has none to default to")
	errNamespace   = intent.PlanError("child: metadata.namespace is set, but the kind is cluster-scoped")
	errTwice       = intent.PlanError("child: planned twice in one plan")
	errLeftBehind  = intent.PlanError("child: planned for an owner that is being deleted, and garbage collection does not reach it: " +
		"it would be left behind; set Hold as long as it is needed, then leave it out")
)

// noName is the error of a child without a name. Server-side apply cannot make one up from generateName (Kubernetes refuses
// it), and a create could not be found again by the next pass, which would create another one.
func noName(c *apply.Child) error {
	prefix := ""
	if c.Object != nil {
		prefix = c.Object.GetGenerateName()
	} else if content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c.Configuration); err == nil {
		prefix, _, _ = unstructured.NestedString(content, "metadata", "generateName")
	}
	const want = "want a name that is the same in each pass"
	if prefix == "" {
		return intent.PlanError("child: metadata.name is empty, " + want)
	}
	return intent.PlanError(fmt.Sprintf("child: metadata.name is empty and metadata.generateName is %q, which cannot be applied: %s, "+
		"such as one derived from the owner's", prefix, want))
}

// checkLength reports a name with which an object of the kind does not work. The API server accepts some of them: it refuses the Pods of
// such a StatefulSet, which the plan does not name. An object that the plan does not create has the name that others gave it.
func checkLength(c *Child) error {
	limit := naming.LimitOf(c.ID.GroupKind.Group, c.ID.GroupKind.Kind)
	if limit == 0 || len(c.ID.Key.Name) <= limit || c.Planned.Mode == apply.Contribute || c.Planned.Existing {
		return nil
	}
	return intent.PlanError(fmt.Sprintf("child: metadata.name %q has %d characters, want at most %d, with which a %s works: "+
		"derive it with naming.ForKind", c.ID.Key.Name, len(c.ID.Key.Name), limit, c.ID.GroupKind.Kind))
}

// What is planned of the owner's own metadata is decided about and applied like
// a contribution to somebody else's object, under a field manager of its own:
// neither the inventory nor a status is written under that name. Its object is
// the owner of the pass, and each write is pinned to the version that was
// looked at, so that the pass can go on with what was answered.

var (
	// ErrGroupMetadata is the error of metadata that is planned of a group.
	ErrGroupMetadata = intent.PlanError("metadata: a group is no object and has none; leave Metadata out of its plan")
	// ErrMoreMetadata is the error of metadata that is not for a plan to say.
	ErrMoreMetadata = intent.PlanError("metadata: want only labels, annotations and finalizers of the owner")
	errPlannedOwner = intent.PlanError("child: it is the owner itself; plan its labels, annotations and finalizers with Metadata")
)

// ResolveAll resolves the children: kind, name, hash, memory.
func (p *Pass) ResolveAll() {
	p.pool = p.Env.takePool(len(p.Plan.Children))
	all := *p.pool
	if p.Plan.Hold {
		p.Identity = 1
	}
	p.Children = make([]*Child, len(all))
	for i := range p.Plan.Children {
		c := &all[i]
		p.Children[i] = c
		c.Planned = &p.Plan.Children[i]
		c.Member = c.Planned.Mode == apply.Own || c.Planned.Mode == apply.Once
		if err := p.resolve(c); err != nil {
			c.Fail(apply.OutcomeFailed, apply.ReasonInvalid, err)
			p.unresolved(c, fmt.Errorf("%s: %w", c.describe(), err))
		}
	}
	p.identifyKept()
	for gk, cause := range p.Plan.Unknown {
		p.markUnknown(gk, cause)
	}
}

// unresolved notes that the plan has a child that is not known: of its kind
// nothing is pruned, and of no kind if not even that is known.
func (p *Pass) unresolved(c *Child, err error) {
	gvk := p.Env.Kinds.GVK(c.Planned)
	if gvk.Empty() {
		p.Incomplete = err
		return
	}
	c.Result.GVK, c.Result.Key = gvk, intent.Key(c.Planned)
	p.markUnknown(gvk.GroupKind(), err)
}

// markUnknown notes that it is not known what is wanted of a kind.
func (p *Pass) markUnknown(gk schema.GroupKind, cause error) {
	if p.Unknown == nil {
		p.Unknown = map[schema.GroupKind]error{}
	}
	if p.Unknown[gk] == nil {
		p.Unknown[gk] = cause
		p.Identity += p.Env.Hasher.Text(gk.String())
	}
}

func (p *Pass) resolve(c *Child) error {
	k, err := p.Env.Kinds.Of(c.Planned)
	if err != nil {
		return err
	}
	c.Kind = k
	c.Result.GVK, c.Result.Announcement = k.GVK, c.Planned.Announcement
	c.ID = applyset.ObjectID{GroupKind: k.GVK.GroupKind(), Key: intent.Key(c.Planned)}
	if k.Namespaced && c.ID.Key.Namespace == "" {
		c.ID.Key.Namespace = p.Owner.GetNamespace()
	}
	c.Result.Key = c.ID.Key
	if err := p.checkIdentity(c); err != nil {
		return err
	}
	c.Reach = c.Member && p.Reaches(c.ID.Key.Namespace)
	if p.Finalize && !p.Plan.Hold && !c.Planned.Existing && (Partial(c.Planned.Mode) || c.Member && !c.Reach) {
		return errLeftBehind
	}
	c.Manager = p.Env.Options.FieldManager
	if Partial(c.Planned.Mode) {
		c.Manager = p.Contributor()
	}
	c.Memory = p.Memory.Child(c.ID)
	if !c.Memory.Planned(p.Memory.Pass, c.Planned.Mode, k.GVK) {
		return errTwice
	}
	c.Memory.NoteSentOnce(c.Planned.Mode == apply.Once || slices.ContainsFunc(c.Planned.Fields, func(r apply.FieldRule) bool {
		return r.Policy == apply.FieldCreateOnly
	}))
	c.Hash = p.Env.Hasher.Child(c.Planned)
	p.Identity += identity(p.Env.Hasher, c)
	return nil
}

// checkIdentity reports a name or a namespace that no object of the kind can have, or only the owner has.
func (p *Pass) checkIdentity(c *Child) error {
	switch {
	case p.IsOwner(c.ID):
		return errPlannedOwner
	case c.ID.Key.Name == "":
		return noName(c.Planned)
	case c.Kind.Namespaced && c.ID.Key.Namespace == "":
		return errNoNamespace
	case !c.Kind.Namespaced && c.ID.Key.Namespace != "":
		return errNamespace
	}
	return checkLength(c)
}

// Reaches reports whether garbage collection follows an owner reference from the
// owner to a child: within a namespace, and from cluster-scoped owners.
func (p *Pass) Reaches(namespace string) bool {
	if p.Group != nil {
		return false
	}
	return !p.OwnerKind.Namespaced || (namespace != "" && namespace == p.Owner.GetNamespace())
}

func identity(h *intent.Hasher, c *Child) uint64 {
	s := h.Start()
	writeIdentity(s, c)
	return h.Finish(s)
}

func writeIdentity(s *maphash.Hash, c *Child) {
	content.WriteString(s, c.ID.GroupKind.Group)
	content.WriteString(s, c.ID.GroupKind.Kind)
	content.WriteString(s, c.ID.Key.Namespace)
	content.WriteString(s, c.ID.Key.Name)
	content.WriteUint(s, uint64(c.Planned.Mode)) //nolint:gosec // a small enumeration
}
