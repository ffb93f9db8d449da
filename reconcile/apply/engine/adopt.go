package engine

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/planerror"
)

var (
	errNoNamespace = planerror.Error("child: metadata.namespace is empty, and the owner has none to default to")
	errNamespace   = planerror.Error("child: metadata.namespace is set, but the kind is cluster-scoped")
	errTwice       = planerror.Error("child: planned twice in one plan")
	errLeftBehind  = planerror.Error("child: planned for an owner that is being deleted, and garbage collection does not reach it: " +
		"it would be left behind; set Hold as long as it is needed, then leave it out")
)

var errReplaced = errors.New("the object was replaced and the cache is stale; will retry")

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
		return planerror.Error("child: metadata.name is empty, " + want)
	}
	return planerror.Error(fmt.Sprintf("child: metadata.name is empty and metadata.generateName is %q, which cannot be applied: %s, "+
		"such as one derived from the owner's", prefix, want))
}

// mayTake reports whether the child may be written: it is ours, or the plan
// allows to adopt it. Otherwise the child has failed.
func (p *pass) mayTake(c *planned) bool {
	if c.child.Existing {
		return true // it is left alone, whosever it is
	}
	if p.needsProof(c) && p.hidesProof(c) {
		return p.firstLook(c) // the cache cannot say who wrote it
	}
	return p.checkOwner(c, c.live)
}

// hidesProof reports whether the cache may have taken away what proves that the
// child may be written: all managedFields, or those of others.
func (p *pass) hidesProof(c *planned) bool {
	entries := c.live.GetManagedFields()
	if len(entries) == 0 {
		return true
	}
	shortened := slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.FieldsV1 == nil })
	return shortened && c.child.Adoption != apply.AdoptControlled && !p.mayWrite(c, c.live)
}

// needsProof reports whether it takes the managedFields of a child that exists
// to know whether it may be written.
func (p *pass) needsProof(c *planned) bool {
	switch c.child.Mode {
	case apply.Shared, apply.Retained:
		return c.memory.UID != c.live.GetUID()
	case apply.Own:
		return c.memory.Ours != c.live.GetUID() && (!c.reach || c.live.GetLabels()[apply.PartOfLabel] != p.id)
	case apply.Once, apply.Contribute:
	}
	return false
}

// lookFirst precedes the first write of a child without controller reference
// that exists: the cache may be out of date about whose it is.
func (p *pass) lookFirst(c *planned, known bool) {
	if known || c.reach || c.action == actionNone || c.action == actionCreate {
		return
	}
	if p.firstLook(c) && c.uid != c.live.GetUID() {
		c.fail(apply.Failed, apply.ReasonNoMatch, errReplaced)
	}
}

// firstLook reads the metadata of a child without controller reference live,
// before the first write: no reference to a second controller would make the
// server refuse. It pins the object by its UID.
func (p *pass) firstLook(c *planned) bool {
	found, err := p.liveMetadata(c.kind.GVK, c.id.Key)
	if err != nil {
		c.fail(apply.Failed, apply.ReasonReadFailed, err)
		return false
	}
	if found == nil {
		return true
	}
	if !p.checkOwner(c, found) {
		return false
	}
	c.uid, c.memory.UID = found.UID, found.UID
	return true
}

// liveMetadata returns nil for an object that does not exist.
func (p *pass) liveMetadata(gvk schema.GroupVersionKind, key types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(gvk)
	if err := p.engine.live.Get(p.ctx, key, m); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return m, nil
}

// checkOwner applies the adoption policy. Contributions are by their nature to
// objects of others.
func (p *pass) checkOwner(c *planned, o metav1.Object) bool {
	if c.child.Mode == apply.Contribute {
		return true
	}
	if c.child.Adoption == apply.AdoptControlled || p.mayWrite(c, o) {
		return true
	}
	controller := metav1.GetControllerOfNoCopy(o)
	if controller != nil {
		copied := *controller
		controller = &copied
	}
	c.fail(apply.Failed, apply.ReasonNotOwned, &apply.OwnedByAnotherError{
		Kind: c.id.GroupKind.Kind, Namespace: c.id.Key.Namespace, Name: c.id.Key.Name, Controller: controller,
	})
	c.memory.Proven = false
	return false
}

// mayWrite reports whether the object is this owner's, or may become so.
func (p *pass) mayWrite(c *planned, o metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(o)
	switch {
	case controller != nil && controller.UID == p.owner.GetUID():
		return !p.labelledByAnother(o)
	case controller != nil:
		return p.gave(o, controller.UID) && p.labels(o)
	case c.child.Mode == apply.Once:
		return true // it exists, which is all that was asked for
	case c.child.Adoption == apply.AdoptUncontrolled && c.child.Mode == apply.Own:
		// The part-of label stands for the reference that a child out of reach cannot have.
		return !labelled(o) || p.inSet(o)
	case c.child.Adoption == apply.AdoptUncontrolled:
		return true
	case c.child.Mode == apply.Shared, c.child.Mode == apply.Retained:
		return p.labels(o) || (!labelled(o) && (c.memory.UID == o.GetUID() || isShared(o) || p.applies(o)))
	}
	return p.mayOwn(c, o)
}

// mayOwn reports whether an object without a controller is this owner's alone.
func (p *pass) mayOwn(c *planned, o metav1.Object) bool {
	if !labelled(o) && (p.sharesAlone(o) || p.retained(o)) {
		return true // it was planned in another mode before
	}
	// Somebody may have taken reference or label off, or both, from a child that this process knows.
	return p.labels(o) || (c.memory.Ours == o.GetUID() && (!labelled(o) || p.inSet(o)))
}

// applies reports whether our manager has applied the object, or one that we
// have followed has written it. A status proves nothing: the object may be an
// owner of this controller.
func (p *pass) applies(o metav1.Object) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		if e.Subresource != "" || !p.engine.ours(e.Manager) {
			return false
		}
		return e.Manager != p.engine.opts.FieldManager || e.Operation == metav1.ManagedFieldsOperationApply
	})
}

// labelled reports whether the object has a part-of label, whoever put it
// there and whatever it says.
func labelled(o metav1.Object) bool { return o.GetLabels()[apply.PartOfLabel] != "" }
