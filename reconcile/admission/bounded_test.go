package admission_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/reconcilekit/reconcilekit/reconcile/admission"
)

// TestResponseIsBounded rejects an object with 100,000 problems that have long messages.
func TestResponseIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ö", 1<<15)
	hook := admission.Validating(kinds(), func(_ context.Context, _, _ *Cabinet) (field.ErrorList, error) {
		var problems field.ErrorList
		for i := range 100_000 {
			problems = append(problems, field.Invalid(field.NewPath("spec", "drawers").Index(i), long, "too long"))
		}
		return problems, nil
	})
	response := hook.Handler.Handle(t.Context(), request("v1", `{"metadata":{"name":"a"},"spec":{"wood":"oak"}}`, ""))
	message := response.Result.Message
	if response.Allowed || response.Result.Code != 422 || len(response.Result.Details.Causes) != 101 || len(message) > 1<<18 {
		t.Errorf("code %d, %d causes, %d bytes", response.Result.Code, len(response.Result.Details.Causes), len(message))
	}
	for _, want := range []string{
		"spec.drawers[99]: Invalid value", "spec.drawers[100]: Forbidden: and 99899 more problems: only the first 100 are reported",
	} {
		if !strings.Contains(message, want) {
			t.Errorf("the response does not contain %q: %.300s", want, message)
		}
	}
}
