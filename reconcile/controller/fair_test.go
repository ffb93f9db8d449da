package controller_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// gate is a probe that blocks its first reconciliation until it is opened, and records the order of the owners.
type gate struct {
	probe

	held, open chan struct{}
	first      sync.Once
	mu         sync.Mutex
	order      []string // each owner once
	seen       map[string]bool
}

func newGate() *gate {
	g := &gate{held: make(chan struct{}), open: make(chan struct{}), seen: map[string]bool{}}
	g.fetch = func(_ context.Context, _ reconcile.Reader, o *widget.Widget) world {
		g.first.Do(func() {
			close(g.held)
			<-g.open
		})
		g.mu.Lock()
		defer g.mu.Unlock()
		if key := client.ObjectKeyFromObject(o).String(); !g.seen[key] {
			g.seen[key] = true
			g.order = append(g.order, key)
		}
		return world{}
	}
	return g
}

func (g *gate) reconciled() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.order...)
}

var _ = Describe("Many owners created in one namespace", func() {
	It("hardly delay the owners of another namespace, and delay no edit", func(ctx SpecContext) {
		owners := 1000
		if testing.Short() {
			owners = 100
		}
		flood, quiet, c := env.Namespace(GinkgoTB()), env.Namespace(GinkgoTB()), admin()
		g := newGate()
		options := settings()
		options.Concurrency = 1
		Expect(c.Create(ctx, newWidget(flood, "first"))).To(Succeed())
		runs{cache: cache.Options{DefaultNamespaces: map[string]cache.Config{flood: {}, quiet: {}}}}.
			start("", controller.New("fair", g).Options(options).Build().SetupWithManager)
		Eventually(g.held).WithTimeout(soon).Should(BeClosed())

		depth := func() int { return metric("workqueue_depth", map[string]string{"controller": "fair"}) }
		for i, namespace := range []string{flood, quiet} {
			inParallel(owners, func(i int) error { return c.Create(ctx, newWidget(namespace, fmt.Sprintf("w%04d", i))) })
			Eventually(depth).WithTimeout(soon).Should(Equal((i + 1) * owners))
		}
		edited := newWidget(flood, fmt.Sprintf("w%04d", owners-1))
		Expect(change(ctx, c, edited, func(w *widget.Widget) { w.Spec.Count++ })).To(Succeed())
		Expect(c.Create(ctx, newWidget(flood, "last"))).To(Succeed())
		Eventually(depth).WithTimeout(soon).Should(Equal(2*owners + 1)) // the event of the edit precedes that of the last owner
		close(g.open)
		Eventually(g.reconciled).WithTimeout(2 * soon).Should(HaveLen(2*owners + 2))

		order := g.reconciled()
		Expect(order[1]).To(Equal(client.ObjectKeyFromObject(edited).String()), "the edit")
		flooded, other := 0, 0
		for _, owner := range order[2:] {
			if strings.HasPrefix(owner, flood+"/") {
				flooded++
				continue
			}
			other++
			Expect(flooded).To(BeNumerically("<=", 2*other), "owners of the crowded namespace before owner %d of the other namespace", other)
		}
	})
})
