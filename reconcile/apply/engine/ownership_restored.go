package engine

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// A tool that restores objects from a backup creates them with new UIDs, under its own field manager, and often without owner references.
// Such an object has the marks of a child, which any account that may edit it can set, and no proof. The engine adopts it only if an
// annotation on the owner permits that: then both an account that may edit the object and one that may edit the owner agree.

// restored has the planned objects of one pass that look like children from a backup.
type restored struct {
	mu     sync.Mutex // children are written concurrently
	claims []restoredClaim
	// silent are existing children in the mode [apply.Once] that work without being adopted. They would stay when the owner is deleted.
	silent []*child
	token  string
}

// restoredClaim is one object that could not be claimed.
type restoredClaim struct {
	child *child
	uid   types.UID
	err   *apply.OwnedByAnotherError
}

// adopts reports whether the owner's annotation permits to adopt the object.
func (f *facts) adopts(o metav1.Object) bool { return f.adopted[o.GetUID()] }

// kept returns the value of the owner's annotation while an object may need it.
func (r *restored) kept(p *pass) string {
	if len(r.claims) == 0 && len(r.silent) == 0 && !p.held() {
		return ""
	}
	return p.owner.GetAnnotations()[p.keys.AdoptRestored]
}

// held reports whether the pass keeps objects without a proof.
func (p *pass) held() bool {
	blocked := p.result.PruneBlocked
	if blocked == nil {
		return false
	}
	return slices.ContainsFunc(append([]*apply.PruneBlockedError{blocked}, blocked.Further...), func(e *apply.PruneBlockedError) bool {
		return e.Reason == apply.ReasonUnproven
	})
}

// permits reports whether the owner's annotation has the token. The annotation may have several, separated by commas.
func (f *facts) permits(token string) bool {
	return slices.Contains(strings.Split(f.owner.GetAnnotations()[f.keys.AdoptRestored], ","), token)
}

// noteRestored notes an object that could not be claimed, if it looks like a child from a backup.
func noteRestored(p *pass, c *child) {
	o := c.refused
	var err *apply.OwnedByAnotherError
	if o == nil || !errors.As(c.result.Err, &err) || !looksRestored(p, c, o) {
		return
	}
	r := &p.restored
	r.mu.Lock()
	defer r.mu.Unlock()
	err.Annotation, err.Token = p.keys.AdoptRestored, r.token
	r.claims = append(r.claims, restoredClaim{child: c, uid: o.GetUID(), err: err})
}

// looksRestored reports whether an object has the marks of a child of this owner: no controller, or a former owner of the same name as its
// controller, and the label of the owner's children. A label of another set is accepted in the namespace of the owner, if it is the set
// that the owner had in the namespace from which it was restored.
func looksRestored(p *pass, c *child, o metav1.Object) bool {
	if p.group != nil || c == p.ownerChild {
		return false
	}
	controller := metav1.GetControllerOfNoCopy(o)
	if controller != nil && !isFormerOwner(p, o, controller) {
		return false
	}
	if c.planned.Mode == apply.Shared || c.planned.Mode == apply.Retained {
		_, shared := o.GetAnnotations()[applyset.SharedAnnotation]
		return shared && !isLabelled(o)
	}
	return p.inSet(o) || inFormerSet(p, o) || (controller != nil && !isLabelled(o))
}

// isFormerOwner reports whether a reference names an owner that had the name of this one. That owner was deleted, because its name is in
// use again.
func isFormerOwner(p *pass, o metav1.Object, reference *metav1.OwnerReference) bool {
	group, _, versioned := strings.Cut(reference.APIVersion, "/")
	if !versioned {
		group = ""
	}
	gvk := p.ownerKind.GVK
	return p.reaches(o.GetNamespace()) && reference.UID != p.owner.GetUID() &&
		reference.Kind == gvk.Kind && group == gvk.Group && reference.Name == p.owner.GetName()
}

// inFormerSet reports whether an object in the namespace of the owner has the label of the set that a restored owner brought from another
// namespace, and no existing owner has this set and may have children here.
func inFormerSet(p *pass, o metav1.Object) bool {
	label := o.GetLabels()[applyset.PartOfLabel]
	if label == p.setID || label != p.owner.GetLabels()[p.keys.ID] || !applyset.IsID(label) ||
		o.GetNamespace() == "" || o.GetNamespace() != p.owner.GetNamespace() {
		return false
	}
	list := p.env.newList(p.ownerKind)
	if list == nil || p.env.client.List(p.ctx, list, p.env.cachedList...) != nil {
		return false
	}
	gk, free := p.ownerKind.GVK.GroupKind(), true
	err := meta.EachListItem(list, func(item runtime.Object) error {
		other, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		key := types.NamespacedName{Namespace: other.GetNamespace(), Name: other.GetName()}
		if label == applyset.ID(gk, key) || label == applyset.IDOf(gk, key, p.env.options.FieldManager) {
			free = free && key.Namespace != o.GetNamespace() && p.recordsNone(other, label, o.GetNamespace())
		}
		return nil
	})
	return err == nil && free
}

// recordsNone reports whether the inventory of an owner shows that its set has no children in a namespace. Each controller keeps its
// inventory under names of its own, and an inventory may be lost.
func (s *config) recordsNone(owner metav1.Object, set, namespace string) bool {
	recorded := false
	for _, keys := range []*applyset.Keys{&s.standardKeys, &s.ownKeys} {
		recorded = recorded || owner.GetLabels()[keys.ID] == set
		if slices.Contains(applyset.ParseNames(owner.GetAnnotations()[keys.Namespaces]), namespace) {
			return false
		}
	}
	return recorded
}

// decideRestored decides the children from a backup again if the owner's annotation permits their adoption, and names the annotation in
// their errors otherwise.
func decideRestored(p *pass) {
	r := &p.restored
	r.silent = silentlyRestored(p)
	if len(r.claims) == 0 && len(r.silent) == 0 {
		return
	}
	r.token = restoredToken(p)
	if !p.permits(r.token) {
		for _, claim := range r.claims {
			claim.err.Token = r.token
		}
		return
	}
	p.adopted = map[types.UID]bool{}
	for _, claim := range r.claims {
		p.adopted[claim.uid] = true
	}
	claims := r.claims
	for _, claim := range claims {
		if decideChildAgain(p, claim.child); claim.child.planned.Mode == apply.Once {
			markAdopted(claim.child)
		}
	}
	for _, c := range r.silent {
		p.adopted[c.live.GetUID()] = true
		markAdopted(c)
	}
}

// markAdopted decides to set the marks of a child whose content is left alone.
func markAdopted(c *child) {
	if c.live == nil || c.result.Err != nil || c.action != actionNone {
		return
	}
	c.uid, c.action, c.result.Reason = c.live.GetUID(), actionMark, apply.ReasonOwnershipLost
	c.decided()
}

// silentlyRestored returns the existing children in the mode [apply.Once] that have lost the proof.
func silentlyRestored(p *pass) []*child {
	var out []*child
	for _, c := range p.children {
		if c.planned.Mode != apply.Once || c.planned.Existing || c.live == nil || c.result.Err != nil || c.action != actionNone ||
			!isLabelled(c.live) || c.live.GetDeletionTimestamp() != nil || c.memory.Ours() == c.live.GetUID() ||
			metav1.IsControlledBy(c.live, p.owner) || !looksRestored(p, c, c.live) {
			continue
		}
		o, version := metav1.Object(c.live), c.live.GetResourceVersion()
		if !hasManagedFields(c.live) && !c.memory.LacksProof(version) {
			found, err := p.liveMetadata(c.kind.GVK, c.id.Key)
			if err != nil || found == nil || found.UID != c.live.GetUID() {
				continue
			}
			o = found
		}
		if p.labelledByUs(o) {
			c.memory.ProvenOurs(o.GetUID())
			continue
		}
		c.memory.FoundNoProof(version)
		out = append(out, c)
	}
	return out
}

// restoredToken returns the token for the owner, the objects that look like its children from a backup, and its proven children. So it stays
// the same while the objects are adopted one by one, and changes when another object gets the marks of a child.
func restoredToken(p *pass) string {
	var uids []string
	for _, claim := range p.restored.claims {
		uids = append(uids, string(claim.uid))
	}
	for _, c := range p.restored.silent {
		uids = append(uids, string(c.live.GetUID()))
	}
	for _, c := range p.children {
		if c.live != nil && c.planned.Mode != apply.Contribute && isAdopted(p, c.live) {
			uids = append(uids, string(c.live.GetUID()))
		}
	}
	slices.Sort(uids)
	return token(append([]string{"adopt", string(p.owner.GetUID())}, slices.Compact(uids)...)...)
}

// isAdopted reports whether an object already has what an adoption sets.
func isAdopted(p *pass, o client.Object) bool {
	return metav1.IsControlledBy(o, p.owner) || (metav1.GetControllerOfNoCopy(o) == nil && p.labelledByUs(o)) ||
		slices.Contains(sharers(o), p.contributor)
}

// reportRestored reports children in the mode [apply.Once] that would stay when the owner is deleted.
func reportRestored(p *pass) {
	r := &p.restored
	if len(r.silent) == 0 || len(p.adopted) > 0 {
		return
	}
	blocked := &apply.PruneBlockedError{Reason: apply.ReasonUnproven, Annotation: p.keys.AdoptRestored, Token: r.token}
	for _, c := range r.silent {
		blocked.Objects = append(blocked.Objects, c.id.String())
	}
	slices.Sort(blocked.Objects)
	p.block(blocked)
}

// sendAdoption sets the label and the owner reference of a child whose content is left alone. It removes the reference to a former owner
// first, because an object has at most one controller.
func sendAdoption(p *pass, c *child) (client.Object, error) {
	if err := takeFromController(p, c); err != nil {
		return nil, err
	}
	metadata := map[string]any{"labels": map[string]any{applyset.PartOfLabel: p.setID}}
	if reference := c.marks().Owner; reference != nil {
		metadata["ownerReferences"] = []any{reference}
	}
	data, err := content.PinnedBody(map[string]any{"metadata": metadata}, c.kind.GVK, c.id.Key, c.live.GetUID(), "")
	if err != nil {
		return nil, err
	}
	return sendApply(p.ctx, p.env, c, data, true)
}
