package modelref

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
)

func TestOutcomeOfMissingExternalModel(t *testing.T) {
	t.Parallel()
	obs := &observation{model: &maasv1alpha1.MaaSModelRef{
		ObjectMeta: metav1.ObjectMeta{Namespace: "llm", Name: "chat"},
		Spec: &maasv1alpha1.MaaSModelRefSpec{ModelRef: maasv1alpha1.ModelReference{
			Kind: maasv1alpha1.BackendExternalModel, Name: "gpt",
		}},
	}}
	obs.external.Error = apierrors.NewNotFound(schema.GroupResource{Resource: "externalmodels"}, "gpt")
	phase, _, message := obs.outcome(&maasv1alpha1.MaaSModelRefStatus{})
	if want := "ExternalModel gpt not found in namespace llm"; phase != maasv1alpha1.ModelFailed || !strings.HasSuffix(message, want) {
		t.Errorf("got %s %q, want Failed and %q", phase, message, want)
	}
}
