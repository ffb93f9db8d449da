package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// panicking is a client that panics for one object.
type panicking struct{ client.Client }

func (panicking) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
	panic("cannot decode " + o.GetName())
}

// A panic in a goroutine that writes a child is passed to the goroutine of the
// reconciliation, whose caller can recover. It must not end the process.
func TestPanicOfAWorker(t *testing.T) {
	t.Parallel()
	plan := planOf(settings())
	two := settings()
	two.Name = "two"
	plan.Apply(two)
	p := newStage(t).begin(plan)
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
