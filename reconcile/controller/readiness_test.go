package controller_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// freeAddress returns a loopback address that nobody listens on.
func freeAddress() string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(listener.Close()).To(Succeed()) }()
	return listener.Addr().String()
}

var _ = Describe("readiness", func() {
	conflict := apierrors.NewConflict(schema.GroupResource{Group: widget.GroupVersion.Group, Resource: "widgets"}, "w", errors.New("changed"))
	DescribeTable("shows trouble with the API server and recovers with a correct status",
		func(ctx context.Context, name string, failure error, told string) {
			namespace, c := env.Namespace(GinkgoTB()), admin()
			var failing atomic.Bool
			requests := &reconciletest.Requests{}
			requests.Inject(func(r reconciletest.Request) *reconciletest.Fault {
				if failing.Load() && r.Subresource == "status" {
					return &reconciletest.Fault{Err: failure}
				}
				return nil
			})
			address := freeAddress()
			runs{wrap: requests.RoundTripper, probes: address}.start(namespace, func(mgr manager.Manager) error {
				return controller.New(name, &probe{}).Options(settings()).SetupWithManager(mgr)
			})
			ready := func() (string, error) {
				response, err := http.Get("http://" + address + "/readyz/" + name)
				if err != nil {
					return "", err
				}
				body, err := io.ReadAll(response.Body)
				return string(body), errors.Join(err, response.Body.Close())
			}
			Eventually(ready).WithTimeout(soon).Should(Equal("ok"))
			errorsBefore := metric("controller_runtime_reconcile_errors_total", map[string]string{"controller": name})
			failing.Store(true)
			w := newWidget(namespace, "w")
			Expect(c.Create(ctx, w)).To(Succeed())
			Eventually(ready).WithTimeout(soon).Should(ContainSubstring("internal server error: "))
			Eventually(metric).WithArguments("controller_runtime_reconcile_errors_total", map[string]string{"controller": name}).
				WithTimeout(soon).Should(BeNumerically(">", errorsBefore), told)
			Expect(c.Get(ctx, client.ObjectKeyFromObject(w), w)).To(Succeed())
			Expect(w.Status.Conditions).To(BeEmpty())

			failing.Store(false)
			Eventually(ready).WithTimeout(soon).Should(Equal("ok"))
			Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).ShouldNot(BeEmpty())
			Expect(w.Status.ObservedGeneration).To(Equal(w.Generation))
		},
		Entry("an API server out of reach", "unreachable", error(syscall.ECONNREFUSED), "the error is counted"),
		Entry("a status write that lost to another one", "status-conflict", error(conflict), "the error is counted"),
	)
})
