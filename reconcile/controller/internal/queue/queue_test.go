package queue_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/queue"
)

// request parses an owner in the form namespace/name.
func request(owner string) ctrl.Request {
	namespace, name, _ := strings.Cut(owner, "/")
	return ctrl.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

func newQueue() priorityqueue.PriorityQueue[ctrl.Request] {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](time.Second, time.Hour)
	return queue.New("", limiter).(priorityqueue.PriorityQueue[ctrl.Request])
}

// added is a list of owners that are added with the same options.
type added struct {
	priorityqueue.AddOpts
	owners []string
}

func TestOrder(t *testing.T) {
	t.Parallel()
	at := func(priority int, owners ...string) added {
		return added{priorityqueue.AddOpts{Priority: &priority}, owners}
	}
	for name, c := range map[string]struct {
		adds []added
		want []string // the owner and its priority
	}{
		"owners of one namespace keep their order":        {[]added{at(0, "a/1", "a/2", "a/3")}, []string{"a/1 0", "a/2 0", "a/3 0"}},
		"the first owner of a namespace waits for one":    {[]added{at(0, "a/1", "a/2", "a/3", "b/1")}, []string{"a/1 0", "b/1 0", "a/2 0", "a/3 0"}},
		"owners without a namespace are of one namespace": {[]added{at(0, "/1", "/2", "b/1")}, []string{"/1 0", "b/1 0", "/2 0"}},
		"an owner that is added again keeps its place":    {[]added{at(0, "a/1", "a/2", "b/1", "a/2")}, []string{"a/1 0", "b/1 0", "a/2 0"}},
		"edits are first, whatever their namespace":       {[]added{at(0, "b/1", "a/1", "a/2"), at(100, "a/2")}, []string{"a/2 100", "b/1 0", "a/1 0"}},
		"initial lists are last, also of other namespaces": {
			[]added{at(handler.LowPriority, "b/1"), at(0, "a/1", "a/2", "a/3")}, []string{"a/1 0", "a/2 0", "a/3 0", "b/1 -100"},
		},
		"an event of a listed owner raises it": {
			[]added{at(handler.LowPriority, "a/1", "a/2", "b/1"), at(0, "a/2")}, []string{"a/2 0", "a/1 -100", "b/1 -100"},
		},
		"a delay does not count": {
			[]added{{priorityqueue.AddOpts{After: time.Hour}, []string{"b/later", "b/much-later"}}, at(0, "a/1", "b/1")}, []string{"a/1 0", "b/1 0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newQueue()
				defer q.ShutDown()
				for _, a := range c.adds {
					for _, owner := range a.owners {
						q.AddWithOpts(a.AddOpts, request(owner))
					}
				}
				synctest.Wait()
				var got []string
				for q.Len() > 0 {
					r, priority, _ := q.GetWithPriority()
					got = append(got, fmt.Sprintf("%s/%s %d", r.Namespace, r.Name, priority))
					q.Done(r)
					synctest.Wait()
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("order (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestFlood checks that the n-th owner of a namespace waits for at most 2n owners of another namespace that has ten thousand in the queue.
func TestFlood(t *testing.T) {
	t.Parallel()
	const flood, others = 10_000, 100
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		defer q.ShutDown()
		for i := range flood {
			q.Add(request(fmt.Sprintf("flood/%d", i)))
		}
		for i := range others {
			q.Add(request(fmt.Sprintf("other/%d", i)))
		}
		synctest.Wait()
		before, served := 0, 0
		for served < others {
			r, _, _ := q.GetWithPriority()
			q.Done(r)
			synctest.Wait()
			if r.Namespace == "flood" {
				before++
				continue
			}
			if served++; before > 2*served {
				t.Fatalf("owner %d of the other namespace waited for %d owners of the flood", served, before)
			}
		}
	})
}
