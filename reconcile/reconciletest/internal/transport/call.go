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
	Sent    map[string]any // the object of a create or an apply, as it was sent
	Err     error
	Changed bool // something is stored that was not before
	Before  *unstructured.Unstructured
	After   *unstructured.Unstructured
	made    client.Object // of a create: it has the name that the server has generated, afterwards
	marked  bool          // a FaultMarked has happened
}

// String identifies the request among those of a run, whatever the order in which workers send theirs.
func (c Call) String() string { return fmt.Sprintf("%s#%d", c.Request, c.nth) }

// Again identifies the next of the same requests.
func (c Call) Again() string { return fmt.Sprintf("%s#%d", c.Request, c.nth+1) }

// Rename gives requests what stands for the names of their objects, and counts equal ones anew.
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

// Sent are the requests of calls, in their order.
func Sent(calls []Call) requests.Sent {
	sent := make(requests.Sent, len(calls))
	for n, c := range calls {
		sent[n] = c.Request
	}
	return sent
}

// ChangedBy are the requests that have changed what is stored.
func ChangedBy(calls []Call) []string {
	var out []string
	for _, c := range calls {
		if c.Changed {
			out = append(out, c.Request.String())
		}
	}
	return out
}
