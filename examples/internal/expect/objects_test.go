package expect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	accore "k8s.io/client-go/applyconfigurations/core/v1"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
)

// TestChildren checks that missing, additional and different children are reported, and that kept children are ignored.
func TestChildren(t *testing.T) {
	t.Parallel()
	object := metav1.ObjectMeta{Namespace: "ns", Name: "a"}
	plan := reconcile.PlanResult{}
	plan.Apply(&corev1.ConfigMap{ObjectMeta: object, Data: map[string]string{"k": "v"}})
	plan.ApplyConfiguration(accore.ServiceAccount("a", "ns").WithAutomountServiceAccountToken(false))
	plan.Keep(&corev1.Secret{ObjectMeta: object})
	const configMap = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {namespace: ns, name: a}\nautomountServiceAccountToken: false\n---\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: ns, name: a}\ndata: {k: v}"
	for want, differences := range map[string]string{
		configMap: "",
		configMap + "\n---\napiVersion: v1\nkind: Service\nmetadata: {namespace: ns, name: a}": "- Service ns/a\n",
		"apiVersion: v1\nkind: Service\nmetadata: {namespace: ns, name: a}":                    "+ ConfigMap ns/a\n- Service ns/a\n+ ServiceAccount ns/a\n",
	} {
		if diff := cmp.Diff(differences, expect.Children(t, clientscheme.Scheme, want, plan)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want, diff)
		}
	}
	if expect.Children(t, clientscheme.Scheme, configMap+"\nimmutable: true", plan) == "" {
		t.Error("want a difference for a missing field")
	}
}
