package controller_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// request requests a reconciliation of the widget.
func request(ctx context.Context, c client.Client, w *widget.Widget, token string) {
	GinkgoHelper()
	Expect(change(ctx, c, w, func(w *widget.Widget) {
		if w.Annotations == nil {
			w.Annotations = map[string]string{}
		}
		w.Annotations[controller.RequestAnnotation] = token
	})).To(Succeed())
}

// confirmed returns the value of the last request that the controller has handled.
func confirmed(ctx context.Context, c client.Client, w *widget.Widget, name string) func() (string, error) {
	return func() (string, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(w), w)
		return w.Annotations[controller.HandledAnnotation(name)], err
	}
}

var _ = Describe("A requested reconciliation", func() {
	It("runs once, is confirmed in an annotation, and is invisible to the phases", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		var seen atomic.Value
		seen.Store("")
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			for key := range o.Annotations {
				seen.Store(key)
			}
			return plan
		}}
		b := controller.New("requested", p).Options(settings()).Build()
		runs{}.start(namespace, func(mgr manager.Manager) error { return b.SetupWithManager(mgr) })
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		before := p.settled(ctx, "w")
		request(ctx, c, w, "one")
		Eventually(confirmed(ctx, c, w, "requested")).WithTimeout(soon).Should(Equal("one"))
		Expect(p.settled(ctx, "w")).To(Equal(before+1), "the confirmation triggers no reconciliation")
		Expect(seen.Load()).To(BeEmpty(), "an annotation that the phases see")

		Expect(change(ctx, c, w, func(w *widget.Widget) { w.Annotations["reconcilekit.dev/paused"] = "true" })).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).ShouldNot(BeEmpty())
		request(ctx, c, w, "two")
		Consistently(confirmed(ctx, c, w, "requested")).WithTimeout(pause).Should(Equal("one"))
		Expect(change(ctx, c, w, func(w *widget.Widget) { delete(w.Annotations, "reconcilekit.dev/paused") })).To(Succeed())
		Eventually(confirmed(ctx, c, w, "requested")).WithTimeout(soon).Should(Equal("two"), "it is handled after the pause")
	})

	It("repeats a rejected write immediately", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		var refuses atomic.Bool
		refuses.Store(true)
		wrap := func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				if !refuses.Load() || r.Method == http.MethodGet || !strings.Contains(r.URL.Path, "/configmaps") {
					return next.RoundTrip(r)
				}
				const body = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"configmaps are forbidden"}`
				return &http.Response{
					StatusCode: http.StatusForbidden, Request: r, Header: http.Header{"Content-Type": {"application/json"}},
					Body: io.NopCloser(bytes.NewBufferString(body)),
				}, nil
			})
		}
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			plan.Apply(configMap(o.Namespace, o.Name, nil))
			return plan
		}}
		b := controller.New("refused", p).Owns(&corev1.ConfigMap{}).Options(settings()).Build()
		runs{wrap: wrap}.start(namespace, func(mgr manager.Manager) error { return b.SetupWithManager(mgr) })
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring("configmaps are forbidden"))
		p.settled(ctx, "w")
		began := time.Now()
		for i := range 4 { // makes the backoff longer than the test
			request(ctx, c, w, strconv.Itoa(i))
			Eventually(confirmed(ctx, c, w, "refused")).WithTimeout(soon).Should(Equal(strconv.Itoa(i)))
		}
		refuses.Store(false)
		Consistently(readyMessage).WithArguments(ctx, c, w).WithTimeout(pause).Should(ContainSubstring("configmaps are forbidden"))
		request(ctx, c, w, "now")
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring("Ready: True"))
		Expect(time.Since(began)).To(BeNumerically("<", 50*time.Second), "the delay after a refusal is a minute")
	})

	It("runs at most every 5 seconds however many are requested", func(ctx context.Context) {
		namespace, c, p := env.Namespace(GinkgoTB()), admin(), &probe{}
		b := controller.New("flooded", p).Options(settings()).Build()
		runs{}.start(namespace, func(mgr manager.Manager) error { return b.SetupWithManager(mgr) })
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		before := p.settled(ctx, "w")
		const requests = 50
		for i := range requests {
			request(ctx, c, w, strconv.Itoa(i))
		}
		Eventually(confirmed(ctx, c, w, "flooded")).WithTimeout(soon).Should(Equal(strconv.Itoa(requests - 1)))
		Expect(p.settled(ctx, "w")-before).To(BeNumerically("<=", 3), "one immediately, and one every 5 seconds")
	})
})
