package watching_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/watching"
)

const backlog = 5000

func service(name string, edit func(*corev1.Service)) *corev1.Service {
	o := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, ResourceVersion: "1", Generation: 1}}
	if edit != nil {
		o.ResourceVersion = "2"
		edit(o)
	}
	return o
}

// TestPriorityOfEdits checks that an edited owner is reconciled before a backlog of owners with other triggers, and with
// priority 0 if it was not edited.
func TestPriorityOfEdits(t *testing.T) {
	t.Parallel()
	deleted := metav1.Now()
	cases := map[string]struct {
		edit func(*corev1.Service)
		want int
	}{
		"spec":       {want: watching.PriorityEdit, edit: func(o *corev1.Service) { o.Generation++ }},
		"annotation": {want: watching.PriorityEdit, edit: func(o *corev1.Service) { o.Annotations = map[string]string{"a": "b"} }},
		"deletion": {want: watching.PriorityEdit, edit: func(o *corev1.Service) {
			o.DeletionTimestamp, o.Finalizers = &deleted, []string{"example.com/last"}
		}},
		"the first write of the engine": {edit: func(o *corev1.Service) {
			o.Annotations, o.Finalizers = map[string]string{"inventory": "x"}, []string{"example.com/shop"}
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, q := owners(t)
			for i := range backlog {
				initial := i%2 == 0
				w.Handler().Create(t.Context(), event.CreateEvent{Object: service("s"+strconv.Itoa(i), nil), IsInInitialList: initial}, q)
			}
			w.Handler().Update(t.Context(), event.UpdateEvent{ObjectOld: service("s0", nil), ObjectNew: service("s0", c.edit)}, q)
			first, priority, _ := q.GetWithPriority()
			if priority != c.want || c.want > 0 && first.Name != "s0" {
				t.Errorf("the first is %s with priority %d, want priority %d", first.Name, priority, c.want)
			}
			woken, _ := w.Triggers.Take(types.NamespacedName{Namespace: "shop", Name: "s0"})
			if woken.Edit != (c.want > 0) {
				t.Errorf("the pass knows of an edit: %t", woken.Edit)
			}
		})
	}
}

// TestPriorityOfOthers checks that an event that does not change an owner keeps the priority of controller-runtime.
func TestPriorityOfOthers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		send func(ctx context.Context, h handler.EventHandler, q queue)
		want int
	}{
		"creation": {send: func(ctx context.Context, h handler.EventHandler, q queue) {
			h.Create(ctx, event.CreateEvent{Object: service("s", nil)}, q)
		}},
		"initial list": {want: handler.LowPriority, send: func(ctx context.Context, h handler.EventHandler, q queue) {
			h.Create(ctx, event.CreateEvent{Object: service("s", nil), IsInInitialList: true}, q)
		}},
		"resync": {want: handler.LowPriority, send: func(ctx context.Context, h handler.EventHandler, q queue) {
			h.Update(ctx, event.UpdateEvent{ObjectOld: service("s", nil), ObjectNew: service("s", nil)}, q)
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, q := owners(t)
			c.send(t.Context(), w.Handler(), q)
			_, priority, _ := q.GetWithPriority()
			if diff := cmp.Diff(c.want, priority); diff != "" {
				t.Errorf("priority (-want +got):\n%s", diff)
			}
		})
	}
}

// owners returns the watcher of the owners, and the queue of a controller.
func owners(t *testing.T) (*watching.Watcher, priorityqueue.PriorityQueue[ctrl.Request]) {
	t.Helper()
	w, err := watched()
	if err != nil {
		t.Fatal(err)
	}
	w.Kind, w.Statuses = w.Owner, &trigger.StatusWrites{}
	q := priorityqueue.New[ctrl.Request]("shop")
	t.Cleanup(q.ShutDown)
	return w, q
}
