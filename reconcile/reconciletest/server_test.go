package reconciletest_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
)

// TestScenarioOnBothServers runs the same scenario on the fake and on a real API server. Only one field differs.
func TestScenarioOnBothServers(t *testing.T) {
	t.Parallel()
	for name, environment := range map[string]*environment.Environment{"fake": nil, "server": env} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if environment != nil {
				environment.Require(t)
			}
			s := bothWorlds()
			s.System.Environment = environment
			s.Run(t)

			s.Writes = s.Writes[1:]
			fails(t, "writes (-want +got)", s.Run)
			s.Writes, s.Events = nil, s.Events[:1]
			fails(t, "events (-want +got)", s.Run)
			s.Events, s.Gone = nil, []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web-0"}}}
			fails(t, "want no ConfigMap", s.Run)
		})
	}
}

func bothWorlds() reconciletest.Scenario {
	const owner = "Widget.test.reconcilekit.dev default/web"
	one := int32(1)
	return reconciletest.Scenario{
		System: shopSystem(),
		Expect: []client.Object{
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}, Data: map[string]string{"message": "hello"}},
			&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{Replicas: &one}},
		},
		ExpectYAML: `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: ClusterIP, ports: [{port: 80, protocol: TCP, targetPort: 80}]}
---
apiVersion: test.reconcilekit.dev/v1
kind: Widget
metadata: {name: web}
status:
  conditions:
  - {type: DeploymentReady, status: "True"}
  - {type: Ready, status: "True"}
`,
		Gone: []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web-3"}}},
		Events: []reconciletest.Event{
			{Object: owner, Type: "Normal", Reason: "Progressing", Message: "Waiting for Deployment: Downstream resource not found or being created"},
			{Object: owner, Type: "Normal", Reason: "AllComponentsReady", Message: "All components are ready"},
		},
		Writes: []string{
			"patch test.reconcilekit.dev/widgets default/web",
			"apply apps/deployments default/web", "apply services default/web",
			"apply configmaps default/web-0", "apply configmaps default/web-1", "apply configmaps default/web-2",
			"apply test.reconcilekit.dev/widgets/status default/web", "apply test.reconcilekit.dev/widgets/status default/web",
		},
	}
}
