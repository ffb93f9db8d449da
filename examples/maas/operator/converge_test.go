package operator_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
	"github.com/reconcilekit/reconcilekit/examples/maas/externalmodel"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// casesPerController are drawn from some hundreds; RECONCILETEST_CASES=all runs
// them all.
const casesPerController = 15

func system(t *testing.T, setup func(manager.Manager) error) reconciletest.System {
	t.Helper()
	known := runtime.NewScheme()
	if err := backend.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	return reconciletest.System{
		Setup: setup, Scheme: known, CRDPaths: []string{"../config/crd", "../config/foreign"}, Cases: casesPerController,
	}
}

// An external model ends as it should whatever goes wrong on the way.
func TestExternalModelConverges(t *testing.T) {
	t.Parallel()
	s := system(t, func(mgr manager.Manager) error { return externalmodel.New(config).SetupWithManager(mgr) })
	s.Owners = []client.Object{&maasv1alpha1.ExternalModel{
		ObjectMeta: metav1.ObjectMeta{Name: "chat"},
		Spec: &maasv1alpha1.ExternalModelSpec{
			Provider: "openai", TargetModel: "gpt", Endpoint: "api.openai.com", CredentialRef: maasv1alpha1.CredentialReference{Name: "key"},
		},
	}}
	s.Change = func(owner client.Object) { owner.(*maasv1alpha1.ExternalModel).Spec.Endpoint = "eu.api.openai.com" }
	reconciletest.Converge(t, s)
}
