package main

import (
	"errors"
	"net/http"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"github.com/reconcilekit/reconcilekit/reconcile/install"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	v1alpha1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1alpha1"
	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
)

var env = &environment.Environment{CRDPaths: []string{"config/crd"}, Scheme: runtime.NewScheme()}

func TestMain(m *testing.M) {
	if err := errors.Join(scheme.AddToScheme(env.Scheme), v1beta1.AddToScheme(env.Scheme), v1alpha1.AddToScheme(env.Scheme)); err != nil {
		panic(err)
	}
	ctrl.SetLogger(logr.Discard())
	os.Exit(env.Main(m))
}

// TestGenerated compares the page, the permissions and the installation with the declarations.
func TestGenerated(t *testing.T) {
	page, err := grafanas(http.DefaultClient).Page()
	if err != nil {
		t.Fatal(err)
	}
	files, err := install.Files(page, install.Config{CRDs: os.DirFS("config/crd")})
	if err != nil {
		t.Fatal(err)
	}
	lint.Generated(t, files)
}

// TestOnlyTheLibraryWrites checks that only the library writes children and statuses and registers watches and
// finalizers.
func TestOnlyTheLibraryWrites(t *testing.T) {
	t.Parallel()
	lint.Boundary(t, ".")
}
