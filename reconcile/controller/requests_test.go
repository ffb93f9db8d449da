package controller_test

import (
	"context"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// perPass records the number of requests of each reconciliation and the errors of its writes.
type perPass struct {
	requests requests.Requests

	mu     sync.Mutex
	sent   []requests.Sent
	errors []string
}

func (*perPass) PhaseStart(ctx context.Context, _ reconcile.Phase) context.Context { return ctx }
func (*perPass) PhaseDone(context.Context, reconcile.Phase, time.Duration, error)  {}

func (p *perPass) PassDone(_ context.Context, report reconcile.Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, p.requests.Snapshot().WithoutInformers().Where(func(r requests.Request) bool {
		return r.Subresource != "status" && r.Resource != "events"
	}))
	p.requests.Reset()
	if err := report.Applied.Err(); err != nil {
		p.errors = append(p.errors, err.Error())
	}
}

var _ = Describe("The requests of a reconciliation", func() {
	It("are limited: the error names the limit, and later reconciliations send the rest", func(ctx context.Context) {
		const limit, children = 6, 20
		namespace, c := env.Namespace(GinkgoTB()), admin()
		seen := &perPass{}
		options := settings()
		options.Budget, options.Observer = reconcile.Budget{MaxRequests: limit}, seen
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			for i := range children {
				plan.Apply(configMap(o.Namespace, o.Name+"-"+strconv.Itoa(i), nil))
			}
			return plan
		}}
		runs{wrap: seen.requests.RoundTripper}.start(namespace,
			controller.New("thrifty", p).Owns(&corev1.ConfigMap{}).Options(options).Build().SetupWithManager)
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		Eventually(func() (made int, err error) {
			var all corev1.ConfigMapList
			err = c.List(ctx, &all, client.InNamespace(namespace))
			for i := range all.Items {
				if len(all.Items[i].OwnerReferences) > 0 {
					made++
				}
			}
			return made, err
		}).WithTimeout(soon).Should(Equal(children))
		p.settled(ctx, "w")

		seen.mu.Lock()
		defer seen.mu.Unlock()
		for i, sent := range seen.sent {
			Expect(len(sent)).To(BeNumerically("<=", limit), "pass %d sent\n%s", i, sent)
		}
		Expect(seen.errors).To(ContainElement(ContainSubstring("at most 6 requests, half of them reads (Budget.MaxRequests)")))
		owner := newWidget(namespace, "w")
		Expect(c.Get(ctx, client.ObjectKeyFromObject(owner), owner)).To(Succeed())
		for _, condition := range owner.Status.Conditions {
			Expect(condition.Message).NotTo(ContainSubstring("MaxRequests"), "what is over is over")
		}
	})
})
