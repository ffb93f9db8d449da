package engine

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
	errNoNamespace  = intent.PlanError("child: metadata.namespace is empty, and the owner has none to default to")
	errNamespace    = intent.PlanError("child: metadata.namespace is set, but the kind is cluster-scoped")
	errTwice        = intent.PlanError("child: planned twice in one plan")
	errHistoryMode  = intent.PlanError("child: planned with History and with another mode; want one of them")
	errHistoryReach = intent.PlanError("child: planned with History, and garbage collection does not reach it: it would never be deleted; " +
		"want an object in the namespace of the owner, or Retained")
	errLeftBehind = intent.PlanError("child: planned for an owner that is being deleted, and garbage collection does not reach it: " +
		"it would be left behind; set Hold as long as it is needed, then leave it out")
)

// noName returns the error for a child without a name. Server-side apply does not support generateName, and the next pass could not find
// an object with a generated name and would create another one.
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

// checkNameLength returns an error if a name is too long for an object of the kind to work. The API server accepts some of these names:
// for a StatefulSet it refuses only the Pods, which the plan does not name. The check skips objects that the plan does not create, because
// others have chosen their names.
func checkNameLength(c *child) error {
	limit := naming.LimitOf(c.id.GroupKind.Group, c.id.GroupKind.Kind)
	if limit == 0 || len(c.id.Key.Name) <= limit || c.planned.Mode == apply.Contribute || c.planned.Existing {
		return nil
	}
	return intent.PlanError(fmt.Sprintf("child: metadata.name %q has %d characters, want at most %d, with which a %s works: "+
		"derive it with naming.ForKind", c.id.Key.Name, len(c.id.Key.Name), limit, c.id.GroupKind.Kind))
}

// The planned metadata of the owner is decided and applied like a contribution, under a field manager of its own that writes neither the
// inventory nor a status. Its object is the owner of the pass. Each write is pinned to the version that was read, so that the pass can
// continue with the answer.

var (
	// errGroupMetadata is the error for planned metadata of a group.
	errGroupMetadata = intent.PlanError("metadata: a group is no object and has none; leave Metadata out of its plan")
	// errMoreMetadata is the error for planned fields of the owner that a plan may not set.
	errMoreMetadata = intent.PlanError("metadata: want only labels, annotations and finalizers of the owner")
	// errOrderedMetadata is the error for planned metadata of the owner that comes after a child.
	errOrderedMetadata = intent.PlanError("metadata: the metadata of the owner is written before its children; want WaitUntil instead of After")
	errPlannedOwner    = intent.PlanError("child: it is the owner itself; plan its labels, annotations and finalizers with Metadata")
)

// resolveAll resolves kind, name, hash and memory of the children.
func (p *pass) resolveAll() {
	p.pool = p.env.takePool(len(p.plan.Children))
	all := *p.pool
	if p.plan.Hold {
		p.identity = 1
	}
	p.children = make([]*child, len(all))
	for i := range p.plan.Children {
		c := &all[i]
		p.children[i] = c
		c.planned = &p.plan.Children[i]
		c.member = c.planned.Mode == apply.Own || c.planned.Mode == apply.Once && !c.planned.History
		if err := p.resolve(c); err != nil {
			c.fail(apply.OutcomeFailed, apply.ReasonInvalid, err)
			p.unresolved(c, fmt.Errorf("%s: %w", c.describe(), err))
		}
	}
	p.identifyKept()
	resolveOrder(p)
	for gk, cause := range p.plan.Unknown {
		p.markUnknown(gk, cause)
	}
}

// unresolved notes a planned child that could not be resolved. Its kind is not pruned; if the kind is unknown too, no kind is.
func (p *pass) unresolved(c *child, err error) {
	gvk := p.env.kinds.GVK(c.planned)
	if gvk.Empty() {
		p.incomplete = err
		return
	}
	c.result.GVK, c.result.Key = gvk, intent.Key(c.planned)
	p.markUnknown(gvk.GroupKind(), err)
}

// markUnknown notes a kind whose desired state is unknown.
func (p *pass) markUnknown(gk schema.GroupKind, cause error) {
	if p.unknown == nil {
		p.unknown = map[schema.GroupKind]error{}
	}
	if p.unknown[gk] == nil {
		p.unknown[gk] = cause
		p.identity += p.env.hasher.Text(gk.String())
	}
}

func (p *pass) resolve(c *child) error {
	k, err := p.env.kinds.Of(c.planned)
	if err != nil {
		return err
	}
	c.kind = k
	c.result.GVK, c.result.Announcement = k.GVK, c.planned.Announcement
	c.id = applyset.ObjectID{GroupKind: k.GVK.GroupKind(), Key: intent.Key(c.planned)}
	if k.Namespaced && c.id.Key.Namespace == "" {
		c.id.Key.Namespace = p.owner.GetNamespace()
	}
	c.result.Key = c.id.Key
	if err := p.checkIdentity(c); err != nil {
		return err
	}
	c.reach = (c.member || c.planned.History) && p.reaches(c.id.Key.Namespace)
	switch {
	case c.planned.History && c.planned.Mode != apply.Once:
		return errHistoryMode
	case c.planned.History && !c.reach:
		return errHistoryReach
	}
	if p.finalize && !p.plan.Hold && !c.planned.Existing && (isPartial(c.planned.Mode) || c.member && !c.reach) {
		return errLeftBehind
	}
	c.manager = p.env.options.FieldManager
	if isPartial(c.planned.Mode) {
		c.manager = p.contributor
	}
	c.memory = p.memory.Child(c.id)
	if !c.memory.Planned(p.memory.Pass, c.planned.Mode, k.GVK) {
		return errTwice
	}
	c.memory.NoteSentOnce(c.planned.Mode == apply.Once || slices.ContainsFunc(c.planned.Fields, func(r apply.FieldRule) bool {
		return r.Policy == apply.FieldCreateOnly
	}))
	c.hash = p.env.hasher.Child(c.planned)
	p.identity += childIdentity(p.env.hasher, c)
	return nil
}

// checkIdentity returns an error if the name or namespace is not valid for the kind, or belongs to the owner itself.
func (p *pass) checkIdentity(c *child) error {
	switch {
	case p.isOwner(c.id):
		return errPlannedOwner
	case c.id.Key.Name == "":
		return noName(c.planned)
	case c.kind.Namespaced && c.id.Key.Namespace == "":
		return errNoNamespace
	case !c.kind.Namespaced && c.id.Key.Namespace != "":
		return errNamespace
	}
	return checkNameLength(c)
}

// reaches reports whether garbage collection follows an owner reference from a child in the namespace to the owner: within a namespace,
// and to cluster-scoped owners.
func (f *facts) reaches(namespace string) bool {
	if f.group != nil {
		return false
	}
	return !f.ownerKind.Namespaced || (namespace != "" && namespace == f.owner.GetNamespace())
}

func childIdentity(h *intent.Hasher, c *child) uint64 {
	s := h.Start()
	writeIdentity(s, c)
	return h.Finish(s)
}

func writeIdentity(s *maphash.Hash, c *child) {
	content.WriteString(s, c.id.GroupKind.Group)
	content.WriteString(s, c.id.GroupKind.Kind)
	content.WriteString(s, c.id.Key.Namespace)
	content.WriteString(s, c.id.Key.Name)
	content.WriteUint(s, uint64(c.planned.Mode)) //nolint:gosec // a small enumeration
	if c.planned.History {
		content.WriteString(s, "history")
	}
}
