package finding_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
)

// TestPrintCause checks that the printed command of a finding is valid in a shell, and names one test.
func TestPrintCause(t *testing.T) {
	group := []finding.Finding{
		{Case: "A: steady state: another controller's ConfigMap default/web", Check: finding.CheckForeign, Message: "it is deleted"},
		{Case: "A-B: error of update configmaps default/web#1", Check: finding.CheckForeign, Message: "it is deleted"},
	}
	want := `[foreign] A: steady state: another controller's ConfigMap default/web: it is deleted
the same in 1 more cases, such as A-B: error of update configmaps default/web#1
to run only this case: RECONCILETEST_CASE='A: steady state: another controller'\''s ConfigMap default/web' go test -run '^TestShop$/^two$'`
	if diff := cmp.Diff(want, finding.PrintCause(group, "TestShop/two")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
