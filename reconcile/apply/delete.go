package apply

import (
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// confirmAfter is when a pass looks again for an object that is being deleted,
// in case no watch announces that it is gone.
const confirmAfter = 5 * time.Second

var errApplyAndDelete = errors.New("deletion: the set plans the object as a child, too")

// delete carries out the planned deletions, dependents first.
func (p *pass) delete() {
	type item struct {
		kind     *kind
		deletion *Deletion
		result   ObjectResult
	}
	items := make([]item, 0, len(p.set.Deletes))
	for i := range p.set.Deletes {
		d := &p.set.Deletes[i]
		k, err := p.engine.kinds.of(&Child{Object: d.Object})
		if err != nil {
			p.result.Objects = append(p.result.Objects, ObjectResult{Outcome: Failed, Err: err})
			continue
		}
		key := client.ObjectKeyFromObject(d.Object)
		if k.namespaced && key.Namespace == "" {
			key.Namespace = p.owner.GetNamespace()
		}
		items = append(items, item{k, d, ObjectResult{GVK: k.gvk, Key: key, Outcome: Unchanged}})
	}
	slices.SortStableFunc(items, func(a, b item) int { return b.kind.rank - a.kind.rank })
	for i := range items {
		it := &items[i]
		if err := p.deleteOne(it.kind, it.deletion, &it.result); err != nil {
			it.result.Outcome, it.result.Err = Failed, err
		}
		p.result.Objects = append(p.result.Objects, it.result)
	}
}

func (p *pass) deleteOne(k *kind, d *Deletion, result *ObjectResult) error {
	id := applyset.ObjectID{GroupKind: k.gvk.GroupKind(), Key: result.Key}
	if m := p.memory.children[id]; m != nil && m.pass == p.memory.pass && m.deleted == "" {
		return errApplyAndDelete
	}
	o := k.newObject()
	defer k.release(o)
	if err := p.engine.client.Get(p.ctx, id.Key, o, p.engine.cached...); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !labels.SelectorFromSet(d.Labels).Matches(labels.Set(o.GetLabels())) {
		return nil // somebody else's
	}
	uid := o.GetUID()
	result.UID = uid
	if want := d.Object.GetUID(); want != "" && want != uid {
		return nil // the one that the plan meant is gone
	}
	if controller := metav1.GetControllerOfNoCopy(o); controller != nil && controller.UID != p.owner.GetUID() {
		copied := *controller
		return &OwnedByAnotherError{Kind: id.GroupKind.Kind, Namespace: id.Key.Namespace, Name: id.Key.Name, Controller: &copied}
	}
	if p.engine.optedOut(o) {
		result.Outcome, result.UID = OptedOut, ""
		return nil
	}
	if o.GetDeletionTimestamp() != nil || p.deletedAlready(id, uid) {
		p.result.requeue(confirmAfter)
		return nil
	}
	version := ""
	if d.MatchResourceVersion {
		if version = d.Object.GetResourceVersion(); version == "" {
			version = o.GetResourceVersion()
		}
	}
	err := p.engine.deleteExactly(p.ctx, k.gvk, id.Key, uid, version)
	if apierrors.IsConflict(err) {
		return fmt.Errorf("it has changed since it was read: %w", err)
	}
	if err != nil {
		return err
	}
	result.Outcome = Deleted
	p.noteDeleted(id, uid)
	return nil
}

// noteDeleted remembers an accepted deletion, for caches that lag.
func (p *pass) noteDeleted(id applyset.ObjectID, uid types.UID) {
	m := p.memory.child(id)
	m.deleted, m.writtenAt, m.pass = uid, p.now, p.memory.pass
	m.proven, m.written = false, ""
}

// deletedAlready says that this object's deletion was accepted a moment ago.
func (p *pass) deletedAlready(id applyset.ObjectID, uid types.UID) bool {
	m := p.memory.children[id]
	if m == nil || m.deleted != uid {
		return false
	}
	m.pass = p.memory.pass
	return p.now.Sub(m.writtenAt) < p.engine.opts.LagDeadline
}
