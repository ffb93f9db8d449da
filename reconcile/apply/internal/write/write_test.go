package write_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/decide"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/passtest"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/write"
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
	plan.Apply(passtest.Settings("one"))
	plan.Apply(passtest.Settings("two"))
	p, err := passtest.Begin(context.Background(), &plan)
	if err != nil {
		t.Fatal(err)
	}
	defer p.End()
	p.Env.Options.Concurrency = 2
	p.ResolveAll()
	for _, c := range p.Children {
		decide.Child(p, c)
	}
	p.Env.Client = panicking{p.Env.Client}
	defer func() {
		if cause := fmt.Sprint(recover()); !strings.Contains(cause, "cannot decode") {
			t.Errorf("recovered %q, want the panic of a worker", cause)
		}
	}()
	write.Children(p)
	t.Error("want a panic")
}
