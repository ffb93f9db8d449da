package transport

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// Call is one request of the operator.
type Call struct {
	Request requests.Request
	GVK     schema.GroupVersionKind
	Key     types.NamespacedName
	nth     int // of equal requests, from 1
	Pass    int
	At      time.Time
	Sent    map[string]any // content of a create or an apply
	Err     error
	Changed bool // the stored state has changed
	Before  *unstructured.Unstructured
	After   *unstructured.Unstructured
	made    client.Object // of a create, with the generated name afterwards
	marked  bool          // a FaultMarked has happened
}

// String identifies the request in a run, independent of the order of workers.
func (c Call) String() string { return fmt.Sprintf("%s#%d", c.Request, c.nth) }

// Again identifies the next equal request.
func (c Call) Again() string { return fmt.Sprintf("%s#%d", c.Request, c.nth+1) }

// Rename sets the canonical names of objects in requests, and renumbers equal ones.
func Rename(calls []Call, as func(schema.GroupKind, types.NamespacedName) string) {
	counts := map[string]int{}
	for n := range calls {
		c := &calls[n]
		if c.Request.Name != "" {
			c.Request.Name = as(c.GVK.GroupKind(), c.Key)
		}
		counts[c.Request.String()]++
		c.nth = counts[c.Request.String()]
	}
}

// Sent returns the requests of calls, in order.
func Sent(calls []Call) requests.Sent {
	sent := make(requests.Sent, len(calls))
	for n, c := range calls {
		sent[n] = c.Request
	}
	return sent
}

// ChangedBy returns the requests that have changed the stored state.
func ChangedBy(calls []Call) []string {
	var out []string
	for _, c := range calls {
		if c.Changed {
			out = append(out, c.Request.String())
		}
	}
	return out
}
