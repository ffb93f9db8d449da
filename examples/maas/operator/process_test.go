package operator_test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
)

// process is the shipped operator, run as a separate process with a kubeconfig.
type process struct {
	folder  string
	command *exec.Cmd
	log     *os.File
}

// build compiles the operator.
func (p *process) build() {
	GinkgoHelper()
	p.folder = GinkgoT().TempDir()
	out, err := exec.Command("go", "build", "-o", filepath.Join(p.folder, "maas"), "..").CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	kubeconfig, err := environment.Kubeconfig(env.Config())
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(p.folder, "kubeconfig"), kubeconfig, 0o600)).To(Succeed())
}

// start starts the process and waits until it is ready, because it handles an interrupt only then. It stops at the
// latest when the suite ends.
func (p *process) start() {
	GinkgoHelper()
	var err error
	p.log, err = os.Create(filepath.Join(p.folder, "log"))
	Expect(err).NotTo(HaveOccurred())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	probes := listener.Addr().String()
	Expect(listener.Close()).To(Succeed())
	p.command = exec.Command(filepath.Join(p.folder, "maas"), "--kubeconfig", filepath.Join(p.folder, "kubeconfig"),
		"--metrics-bind-address=0", "--health-probe-bind-address="+probes, "--authz-cache-ttl=300", "--subscription-namespace-maintain-interval=1s")
	p.command.Env = append(os.Environ(), "MAAS_PLATFORM_MANIFESTS=")
	p.command.Stdout, p.command.Stderr = p.log, p.log
	Expect(p.command.Start()).To(Succeed())
	Eventually(func(g Gomega) {
		answer, err := http.Get("http://" + probes + "/readyz")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.Body.Close()).To(Succeed())
		g.Expect(answer.StatusCode).To(Equal(http.StatusOK))
	}).WithTimeout(2*time.Minute).WithPolling(100*time.Millisecond).Should(Succeed(), p.tail)
}

// stop interrupts the process, as Kubernetes does, and waits until it exits.
func (p *process) stop() {
	GinkgoHelper()
	if p.command == nil {
		return
	}
	Expect(p.command.Process.Signal(os.Interrupt)).To(Succeed())
	err := p.command.Wait()
	p.command = nil
	Expect(p.log.Close()).To(Succeed())
	Expect(err).NotTo(HaveOccurred(), p.tail())
}

// tail returns the end of the log.
func (p *process) tail() string {
	text, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-8000):])
}
