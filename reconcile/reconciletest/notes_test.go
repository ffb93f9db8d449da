package reconciletest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// TestNotes checks that code that no run reached is reported, because a passed test does not cover it.
func TestNotes(t *testing.T) {
	t.Setenv(reconciletest.EnvCase, "no fault, A")
	system := appSystem("watches a Job that is never created")
	system.Optional = []schema.GroupKind{{Group: "monitoring.example.com", Kind: "Probe"}}
	system.StandIns = nil
	system.Rules = []rbacv1.PolicyRule{
		{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}},
		{APIGroups: []string{""}, Resources: []string{"services", "configmaps"}, Verbs: []string{"list", "create", "delete"}},
	}
	want := []string{
		"not tried: what happens once Widget.test.reconcilekit.dev default/web is ready, because it is not ready at the end of A: Waiting",
		"not tried: what happens once Widget.test.reconcilekit.dev default/web is ready, because it is not ready at the end of B: Waiting",
		"not tried: a prune, because System.Change removes nothing that the operator deletes",
		"not tried: children of the kind Probe.monitoring.example.com of System.Optional, because no run creates one",
		"not tried: objects of the kind Job, which the operator reads from its cache, because no run has one",
		"not tried: create services, which System.Rules allow, because no run sends it",
		"not tried: delete configmaps, which System.Rules allow, because no run sends it",
		"not tried: delete services, which System.Rules allow, because no run sends it",
		"not tried: children that become ready or fail; set System.StandIns",
	}
	if diff := cmp.Diff(want, explore(t, system).Notes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNoteOfForeignDependency checks that an owner that stays ready without a workload of another controller is noted, because this may be intended.
func TestNoteOfForeignDependency(t *testing.T) {
	t.Setenv(reconciletest.EnvCase, "A: steady state: another controller's Deployment.apps default/web")
	got := explore(t, appSystem(""))
	want := []string{
		"to check: Widget.test.reconcilekit.dev default/web reports ready although Deployment.apps default/web belongs to another controller",
		"not tried: a prune, because System.Change removes nothing that the operator deletes",
	}
	if diff := cmp.Diff(want, got.Notes); diff != "" || len(got.Findings) > 0 {
		t.Errorf("findings %v, notes (-want +got):\n%s", got.Findings, diff)
	}
}
