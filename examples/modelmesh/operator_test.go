package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/standin/memory"
)

// world is an API server with the kinds of all projects, and a double of ModelMesh.
type world struct {
	client.Client
	env    *environment.Environment
	double *memory.Mesh
	mesh   string // where the double is
	mu     sync.Mutex
}

func newWorld(t *testing.T) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{double: &memory.Mesh{}, env: &environment.Environment{
		Scheme: scheme, CRDPaths: []string{"config/crd", "config/foreign"}, Audit: true,
		AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
	}}
	w.env.Setup(t)
	w.Client = w.env.Client()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := mmesh.NewServer(w.double)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	w.mesh = listener.Addr().String()
	return w
}

// account is a user with the rights that the page of the operator asks for and no others.
func (w *world) account(t *testing.T, variables map[string]string) *rest.Config {
	t.Helper()
	page, err := modelmesh(lookup(variables)).Page()
	if err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.env.Rights(t, page.Rules()).Config()
}

// operator runs the operator until the test ends, and returns its log.
func (w *world) operator(t *testing.T, variables map[string]string, arguments ...string) *buffer {
	t.Helper()
	kubeconfig, err := environment.Kubeconfig(w.account(t, variables))
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err == nil {
		err = os.WriteFile(path, kubeconfig, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	o := modelmesh(lookup(variables))
	again := true
	o.Manager = func(m *manager.Options) { m.Controller.SkipNameValidation = &again }
	if len(arguments) == 0 {
		o.Webhooks = nil // one test has them
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	log := &buffer{}
	go func() {
		ended <- o.Run(ctx, append([]string{
			"--kubeconfig", path, "--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0",
		}, arguments...), io.Discard, log)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the operator ended with %v", err)
		}
		if t.Failed() {
			t.Log(log.tail())
		}
	})
	return log
}

// buffer is a log that is written and read at the same time.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) all() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *buffer) tail() string {
	text := b.all()
	return text[max(0, len(text)-8000):]
}
