package e2e_test

import (
	"errors"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
)

var env = &environment.Environment{
	CRDPaths: []string{"../../quickstart/config/crd"}, Scheme: runtime.NewScheme(),
	Audit: true, AuditPatches: true, AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
}

func TestMain(m *testing.M) {
	if err := errors.Join(scheme.AddToScheme(env.Scheme), v1.AddToScheme(env.Scheme)); err != nil {
		panic(err)
	}
	ctrl.SetLogger(logr.Discard())
	os.Exit(env.Main(m))
}
