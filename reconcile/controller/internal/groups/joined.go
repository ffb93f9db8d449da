package groups

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
)

// Joined has the groups of other controllers that a controller reads.
type Joined struct {
	Controller string // of the reading controller

	reads []*reader
}

// Join lets passes read the groups of the store. The returned source enqueues the owners that read a changed group.
func (j *Joined) Join(groups *Store, tracker *tracking.Tracker, woken *trigger.Triggers) source.Source {
	r := &reader{store: groups, tracker: tracker, wakes: woken}
	r.index = tracking.NewIndex(func(client.Object, string) ([]string, bool) { return nil, false })
	j.reads = append(j.reads, r)
	return r.source()
}

// Read reads a group of another controller.
func (j *Joined) Read(s *tracking.Session, key types.NamespacedName, object client.Object) error {
	into, ok := object.(*Group)
	if !ok {
		return fmt.Errorf("read a group into %T: want a *controller.Group", object)
	}
	at := slices.IndexFunc(j.reads, func(r *reader) bool { return r.store.Name == into.Kind })
	if at < 0 {
		return &declaration.UndeclaredError{
			Controller: j.Controller, GVK: into.GroupVersionKind(), Declaration: "Joins(the builder of " + into.Kind + ")",
		}
	}
	s.Name(j.reads[at].index, key)
	return j.reads[at].store.get(key, into)
}

// Names returns the names of the groups for explanations of reads.
func (j *Joined) Names() map[*tracking.Index]string {
	names := map[*tracking.Index]string{}
	for _, joined := range j.reads {
		names[joined.index] = "group of controller " + joined.store.Name
	}
	return names
}
