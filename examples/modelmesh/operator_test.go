package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/process"
)

// cluster has an API server with the CRDs of all projects, and the compiled operator.
type cluster struct {
	client.Client
	env    *environment.Environment
	folder string // contains the program and the certificate of its webhooks
	mu     sync.Mutex
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &cluster{folder: t.TempDir(), env: &environment.Environment{
		Scheme: scheme, CRDPaths: []string{"config/crd", "config/foreign"}, Audit: true,
		AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
	}}
	w.env.Setup(t)
	w.Client = w.env.Client()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", w.program(), ".").CombinedOutput(); err != nil {
		t.Fatalf("build the operator: %v\n%s", err, out)
	}
	process.Certify(t, w.folder)
	return w
}

func (w *cluster) program() string { return filepath.Join(w.folder, "modelmesh") }

// running is a running operator.
type running struct {
	*exec.Cmd
	log      process.Log
	user     string // user name of the operator
	webhooks string // address of the webhooks
	metrics  string // address of the metrics
	ended    chan error
}

// operator runs the operator until the test ends. It returns when the operator has reconciled the existing objects, so
// that an expectation does not hold merely because nothing has happened yet.
func (w *cluster) operator(t *testing.T, variables map[string]string, arguments ...string) *running {
	t.Helper()
	p := w.start(t, variables, append([]string{"--leader-elect=false"}, arguments...)...)
	for until := time.Now().Add(time.Minute); !strings.Contains(p.log.String(), "Starting workers"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the operator does not start")
		}
	}
	process.AwaitQueues(t, p.metrics, time.Minute)
	return p
}

// start runs the operator until it is stopped or the test ends, with exactly the permissions of its page.
func (w *cluster) start(t *testing.T, variables map[string]string, arguments ...string) *running {
	t.Helper()
	page, err := modelmesh(lookup(variables)).Page()
	if err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	rights := w.env.Rights(t, page.Rules())
	w.mu.Unlock()
	kubeconfig, err := environment.Kubeconfig(rights.Config())
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err == nil {
		err = os.WriteFile(path, kubeconfig, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	address := environment.FreeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	p := &running{user: rights.User(), webhooks: address, metrics: environment.FreeAddress(t), ended: make(chan error, 1)}
	p.Cmd = exec.Command(w.program(), append([]string{
		"--kubeconfig", path, "--metrics-bind-address", p.metrics, "--health-probe-bind-address=0",
		"--webhook-port", port, "--webhook-cert-dir", w.folder,
	}, arguments...)...)
	p.Env = []string{"HOME=" + w.folder}
	for name, value := range variables {
		p.Env = append(p.Env, name+"="+value)
	}
	p.Stdout, p.Stderr = &p.log, &p.log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.Wait() }()
	t.Cleanup(func() { p.stop(t) })
	return p
}

// stop stops the operator as a kubelet does, unless it has exited.
func (p *running) stop(t *testing.T) {
	t.Helper()
	p.end(t, syscall.SIGTERM)
	if t.Failed() {
		t.Log(p.log.Tail())
	}
}

// end sends a signal to the operator, unless it has exited. After SIGTERM it must exit without an error.
func (p *running) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if p.ended == nil {
		return
	}
	_ = p.Process.Signal(signal)
	select {
	case err := <-p.ended:
		if err != nil && signal != syscall.SIGKILL {
			t.Errorf("the operator exited with %v", err)
		}
	case <-time.After(time.Minute):
		_ = p.Process.Kill()
		t.Error("the operator did not exit")
	}
	p.ended = nil
}
