package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// panicking is a client one of whose objects cannot be decoded.
type panicking struct{ client.Client }

func (panicking) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
	panic("cannot decode " + o.GetName())
}

// A panic while several children are written is one of the pass, whose caller
// can recover, and not of a goroutine that ends the process.
func TestPanicOfAWorker(t *testing.T) {
	t.Parallel()
	var plan apply.Plan
	plan.Apply(settings("one"))
	plan.Apply(settings("two"))
	p, err := begin(context.Background(), &plan)
	if err != nil {
		t.Fatal(err)
	}
	defer p.end()
	p.env.options.Concurrency = 2
	p.resolveAll()
	for _, c := range p.children {
		decideChild(p, c)
	}
	p.env.client = panicking{p.env.client}
	defer func() {
		if cause := fmt.Sprint(recover()); !strings.Contains(cause, "cannot decode") {
			t.Errorf("recovered %q, want the panic of a worker", cause)
		}
	}()
	writeChildren(p)
	t.Error("want a panic")
}
