package controller_test

import (
	"context"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// mortal is a control plane for one test. Its API server can be killed.
type mortal struct {
	envtest.Environment

	folder string // of the API server's certificates; only its process has this path in its arguments
}

func newMortal() *mortal {
	GinkgoHelper()
	m := &mortal{folder: GinkgoT().TempDir()}
	m.CRDs = []*apiextensionsv1.CustomResourceDefinition{widget.CRD()}
	m.UseExistingCluster = new(false)
	m.ControlPlaneStartTimeout, m.ControlPlaneStopTimeout = 2*time.Minute, 2*time.Minute
	server := m.ControlPlane.GetAPIServer()
	server.CertDir = m.folder
	host, port, err := net.SplitHostPort(freeAddress())
	Expect(err).NotTo(HaveOccurred())
	server.SecureServing.Address, server.SecureServing.Port = host, port
	server.Configure().Set("advertise-address", "127.0.0.1").Set("endpoint-reconciler-type", "none")
	_, err = m.Start()
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(m.Stop)
	return m
}

// kill sends SIGKILL to the API server.
func (m *mortal) kill() {
	GinkgoHelper()
	found, err := exec.Command("pgrep", "-f", "kube-apiserver.*"+m.folder).Output()
	Expect(err).NotTo(HaveOccurred())
	pid, err := strconv.Atoi(strings.TrimSpace(string(found)))
	Expect(err).NotTo(HaveOccurred(), "one process, got %q", found)
	Expect(syscall.Kill(pid, syscall.SIGKILL)).To(Succeed())
}

// restart starts another API server with the same address and data.
func (m *mortal) restart() {
	GinkgoHelper()
	Expect(m.ControlPlane.GetAPIServer().Start()).To(Succeed())
}

var _ = Describe("An API server that is killed", func() {
	It("makes the process not ready, and after its restart no write is lost or repeated", func(ctx context.Context) {
		if testing.Short() {
			Skip("kills an API server")
		}
		m := newMortal()
		c, err := client.New(m.Config, client.Options{Scheme: testScheme(GinkgoTB())})
		Expect(err).NotTo(HaveOccurred())
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			child := configMap(o.Namespace, o.Name, nil)
			child.Data = map[string]string{"message": o.Spec.Message}
			plan.Apply(child)
			return plan
		}}
		log, address := &lines{}, freeAddress()
		runs{config: m.Config, logger: log.logger(), probes: address}.start("default", func(mgr manager.Manager) error {
			return controller.New("killed", p).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		ready := func(names ...string) {
			GinkgoHelper()
			for _, name := range names {
				Eventually(func() string { return readyMessage(ctx, c, newWidget("default", name)) }).
					WithTimeout(soon).Should(ContainSubstring("Ready: True"), name)
			}
		}
		still, edited := newWidget("default", "still"), newWidget("default", "edited")
		Expect(c.Create(ctx, still)).To(Succeed())
		Expect(c.Create(ctx, edited)).To(Succeed())
		ready("still", "edited")
		version := func(name string) (child corev1.ConfigMap) {
			GinkgoHelper()
			Expect(c.Get(ctx, types.NamespacedName{Namespace: "default", Name: name}, &child)).To(Succeed())
			return child
		}
		before := version("still")

		m.kill()
		Eventually(readyz).WithArguments(address).WithTimeout(soon).Should(ContainSubstring("[-]api-server failed"))
		Eventually(log.String).WithTimeout(soon).Should(And(
			ContainSubstring(`"not ready" "check"="api-server"`), MatchRegexp("connection (refused|reset)"),
		))

		m.restart()
		Eventually(readyz).WithArguments(address).WithTimeout(soon).Should(Equal("ok"))
		Expect(change(ctx, c, edited, func(w *widget.Widget) { w.Spec.Message = "after" })).To(Succeed())
		Expect(c.Create(ctx, newWidget("default", "fresh"))).To(Succeed())
		ready("still", "edited", "fresh")
		Eventually(func() string { child := version("edited"); return child.Data["message"] }).WithTimeout(soon).Should(Equal("after"))
		after := version("still")
		Expect(after.ResourceVersion).To(Equal(before.ResourceVersion), "an unchanged child was written again")
		var children corev1.ConfigMapList
		Expect(c.List(ctx, &children, client.InNamespace("default"), client.HasLabels{"applyset.kubernetes.io/part-of"})).To(Succeed())
		Expect(children.Items).To(HaveLen(3))
	})
})
