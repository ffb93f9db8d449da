package controller_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

func name(s string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: s} }

// TestPriority checks that events have the priorities that controller-runtime gives them: changes before initial lists and resyncs.
func TestPriority(t *testing.T) {
	t.Parallel()
	at := func(version string) client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "x", ResourceVersion: version}}
	}
	type queue = priorityqueue.PriorityQueue[ctrl.Request]
	cases := map[string]struct {
		reason string
		send   func(h handler.EventHandler, q queue)
		want   int
	}{
		"InitialList": {
			reason: "objects of the initial list are no news",
			send: func(h handler.EventHandler, q queue) {
				h.Create(t.Context(), event.CreateEvent{Object: at("1"), IsInInitialList: true}, q)
			},
			want: handler.LowPriority,
		},
		"Create": {
			reason: "a new object is",
			send:   func(h handler.EventHandler, q queue) { h.Create(t.Context(), event.CreateEvent{Object: at("1")}, q) },
		},
		"Resync": {
			reason: "a resync is no news",
			send: func(h handler.EventHandler, q queue) {
				h.Update(t.Context(), event.UpdateEvent{ObjectOld: at("1"), ObjectNew: at("1")}, q)
			},
			want: handler.LowPriority,
		},
		"Update": {
			reason: "a change is",
			send: func(h handler.EventHandler, q queue) {
				h.Update(t.Context(), event.UpdateEvent{ObjectOld: at("1"), ObjectNew: at("2")}, q)
			},
		},
		"Delete": {
			reason: "so is a deletion",
			send:   func(h handler.EventHandler, q queue) { h.Delete(t.Context(), event.DeleteEvent{Object: at("1")}, q) },
		},
	}
	for label, tc := range cases {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			q := priorityqueue.New[ctrl.Request]("test-" + label)
			defer q.ShutDown()
			tc.send(controller.PriorityHandler(name("owner"), name("x")), q)
			got, priority, _ := q.GetWithPriority()
			if got.NamespacedName != name("owner") || priority != tc.want {
				t.Errorf("%s: got %s with priority %d, want %s with %d", tc.reason, got, priority, name("owner"), tc.want)
			}
		})
	}
}
