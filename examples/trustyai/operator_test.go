package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/internal/process"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
	v1 "github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// operatorNamespace is the namespace of the operator's settings.
const operatorNamespace = "trustyai-operator"

// cluster has an API server with the kinds of all projects, and the operator.
type cluster struct {
	client.Client
	env  *environment.Environment
	user string // user name of the operator
	log  process.Log
	// metrics is the address of the operator's metrics.
	metrics string
}

// newCluster starts an API server and an operator with some services and exactly the permissions of its page.
func newCluster(t *testing.T, services string) *cluster {
	t.Helper()
	w := newServer(t)
	w.start(t, services)
	return w
}

// newServer starts the API server.
func newServer(t *testing.T) *cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientscheme.AddToScheme, apiextensionsv1.AddToScheme, kueue.AddToScheme, v1.AddToScheme, v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	gateway, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	gateways := filepath.Join(strings.TrimSpace(string(gateway)), "config/crd/standard/gateway.networking.k8s.io_gateways.yaml")
	w := &cluster{env: &environment.Environment{
		Scheme: scheme, CRDPaths: []string{"config/crd", "config/foreign", gateways},
		Audit: true, AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
	}}
	w.env.Setup(t)
	w.Client = w.env.Client()
	t.Setenv("APPLICATIONS_NAMESPACE", operatorNamespace)
	w.namespace(t, operatorNamespace)
	w.install(t, "config/extra/proxy_role.yaml")
	return w
}

// start starts an operator.
func (w *cluster) start(t *testing.T, services string) {
	t.Helper()
	page, err := trustyai().Page("--enable-services=" + services)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	process.Certify(t, folder)
	rights := w.env.Rights(t, page.Rules())
	w.user = rights.User()
	kubeconfig, err := environment.Kubeconfig(rights.Config())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(environment.FreeAddress(t))
	w.metrics = environment.FreeAddress(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	o := trustyai()
	o.Manager = func(m *manager.Options) { m.Controller.SkipNameValidation = new(true) } // a process may run several operators, one after another
	go func() {
		ended <- o.Run(ctx, []string{
			"--enable-services", services, "--evalhub-admit-all", // the default of the product, with which the cases were recorded
			"--kubeconfig", path, "--leader-elect=false", "--metrics-bind-address", w.metrics, "--health-probe-bind-address=0",
			"--webhook-port", port, "--webhook-cert-dir", folder,
		}, os.Stdout, &w.log)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the operator returned %v", err)
		}
		w.refused(t)
		if t.Failed() {
			t.Log(w.log.Tail())
		}
	})
}

// refused fails the test for each request for which the operator lacked a permission.
func (w *cluster) refused(t *testing.T) {
	t.Helper()
	log, err := w.env.AuditLog()
	if err != nil {
		t.Error(err)
		return
	}
	denied, err := log.Entries(environment.User(w.user), func(e environment.AuditEntry) bool {
		return e.Code == http.StatusForbidden && !strings.Contains(e.Message, "being terminated")
	})
	if err != nil || len(denied) > 0 {
		t.Errorf("the operator lacks the permission for a request: %s (%v)", denied, err)
	}
}
