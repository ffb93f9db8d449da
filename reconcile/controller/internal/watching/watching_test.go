package watching_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/watching"
)

type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]

// watched returns the watcher of ConfigMaps, for owners that are Services, and its tracker.
func watched() (*watching.Watcher, error) {
	kinds, err := declaration.Resolve("shop", scheme.Scheme, []declaration.Declaration{
		{Purpose: declaration.PurposeFor, Object: &corev1.Service{}, Source: "shop.go:1"},
		{Purpose: declaration.PurposeOwns, Object: &corev1.ConfigMap{}, Source: "shop.go:2"},
	})
	if err != nil {
		return nil, err
	}
	return &watching.Watcher{
		Logger: logr.Discard(), Kind: kinds.Kinds[1], Owner: kinds.Kinds[0],
		Tracker: tracking.NewTracker(), Triggers: &trigger.Triggers{},
	}, nil
}

func newQueue() queue {
	return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())
}

// drained returns the requests in the queue.
func drained(q queue) (names []string) {
	for q.Len() > 0 {
		request, _ := q.Get()
		q.Done(request)
		names = append(names, request.String())
	}
	return names
}

func settings(namespace, controller string) *corev1.ConfigMap {
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "settings", ResourceVersion: "2"}}
	if controller != "" {
		o.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Service", Name: controller, Controller: new(true)}}
	}
	return o
}

// TestOwnersOfAnEvent checks that an event enqueues the owner that controls the object and each owner that read it, once each.
func TestOwnersOfAnEvent(t *testing.T) {
	t.Parallel()
	foreign := settings("shop", "web")
	foreign.OwnerReferences[0].APIVersion = "example.com/v1"
	cases := map[string]struct {
		send func(ctx context.Context, w *watching.Watcher, q queue)
		want []string
	}{
		"a child": {want: []string{"shop/web"}, send: func(ctx context.Context, w *watching.Watcher, q queue) {
			w.Handler().Create(ctx, event.CreateEvent{Object: settings("shop", "web")}, q)
		}},
		"what an owner reads and another controls": {
			want: []string{"shop/reader", "shop/web"},
			send: func(ctx context.Context, w *watching.Watcher, q queue) {
				read(w, "reader", settings("shop", ""))
				read(w, "web", settings("shop", ""))
				w.Handler().Delete(ctx, event.DeleteEvent{Object: settings("shop", "web")}, q)
			},
		},
		"a child that changes its owner": {
			want: []string{"shop/new", "shop/old"},
			send: func(ctx context.Context, w *watching.Watcher, q queue) {
				before := settings("shop", "old")
				before.ResourceVersion = "1"
				w.Handler().Update(ctx, event.UpdateEvent{ObjectOld: before, ObjectNew: settings("shop", "new")}, q)
			},
		},
		"a resync": {send: func(ctx context.Context, w *watching.Watcher, q queue) {
			w.Handler().Update(ctx, event.UpdateEvent{ObjectOld: settings("shop", "web"), ObjectNew: settings("shop", "web")}, q)
		}},
		"another kind of owner": {send: func(ctx context.Context, w *watching.Watcher, q queue) {
			w.Handler().Create(ctx, event.CreateEvent{Object: foreign}, q)
		}},
		"nobody's": {send: func(ctx context.Context, w *watching.Watcher, q queue) {
			w.Handler().Create(ctx, event.CreateEvent{Object: settings("shop", "")}, q)
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := watched()
			if err != nil {
				t.Fatal(err)
			}
			q := newQueue()
			defer q.ShutDown()
			c.send(t.Context(), w, q)
			if diff := cmp.Diff(c.want, drained(q)); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
		})
	}
}

func read(w *watching.Watcher, owner string, object client.Object) {
	s := w.Tracker.Begin(types.NamespacedName{Namespace: "shop", Name: owner}, tracking.ScopeRead)
	s.Name(w.Kind.Index, client.ObjectKeyFromObject(object))
	s.End()
}

func ExampleWatcher() {
	w, err := watched()
	if err != nil {
		fmt.Println(err)
		return
	}
	q := newQueue()
	defer q.ShutDown()
	w.Handler().Create(context.Background(), event.CreateEvent{Object: settings("shop", "web")}, q)
	fmt.Println(drained(q))
	// Output:
	// [shop/web]
}
