package operator_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/operator"
	"github.com/reconcilekit/reconcilekit/examples/maas/tenant"
)

func TestTenantConverges(t *testing.T) {
	t.Parallel()
	reconciletest.Converge(t, platform(t))
}

// TestAuthConfigServed checks that the platform waits until the API server serves the version of AuthConfig that
// Kuadrant creates for its policies.
func TestAuthConfigServed(t *testing.T) {
	t.Parallel()
	for version, expect := range map[string]string{
		"v1beta3": "{phase: Active, conditions: [{type: DependenciesAvailable, status: 'True', reason: DependenciesMet}]}",
		"v1beta2": "{phase: Pending, conditions: [{type: Ready, status: 'False', reason: DependenciesNotAvailable}, " +
			"{type: DependenciesAvailable, status: 'False', reason: DependencyMissing}, " +
			"{type: MaaSPrerequisitesAvailable, status: Unknown, reason: DependenciesNotMet}, {type: DeploymentsAvailable, status: 'False'}]}",
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := platform(t)
			s.CRDPaths = append(s.CRDPaths[:1:1], authConfigsOf(t, version)...)
			reconciletest.Scenario{System: s, ExpectYAML: `
apiVersion: maas.opendatahub.io/v1alpha1
kind: Tenant
metadata: {name: default-tenant, namespace: models-as-a-service}
status: ` + expect}.Run(t)
		})
	}
}

// authConfigsOf returns the CRDs of other projects, with AuthConfig served only in the given version.
func authConfigsOf(t *testing.T, version string) []string {
	t.Helper()
	files, err := filepath.Glob("../config/foreign/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		if !strings.Contains(file, "authconfigs") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = filepath.Join(t.TempDir(), "authconfigs.yaml")
		if err := os.WriteFile(files[i], bytes.ReplaceAll(text, []byte("v1beta3"), []byte(version)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// platform returns a system with a tenant whose platform moves to another gateway and loses its telemetry.
func platform(t *testing.T) reconciletest.System {
	t.Helper()
	s := system(t, func(mgr manager.Manager) error {
		tenants, err := tenant.New(config)
		if err != nil {
			return err
		}
		return tenants.SetupWithManager(mgr)
	})
	operator.Narrow(&s.Cache, config)
	s.Given = platformNeeds()
	s.StandIns = []reconciletest.StandIn{reconciletest.DeploymentsAvailable}
	s.Owners = []client.Object{&maasv1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: config.SubscriptionNamespace, Name: maasv1alpha1.TenantName},
		Spec:       &maasv1alpha1.TenantSpec{Telemetry: &maasv1alpha1.TenantTelemetry{Enabled: new(true)}},
	}}
	s.Change = func(owner client.Object) {
		spec := owner.(*maasv1alpha1.Tenant).Spec
		spec.GatewayRef = &maasv1alpha1.TenantGatewayRef{Namespace: "elsewhere", Name: "other"}
		spec.Telemetry = nil
	}
	return s
}

// platformNeeds returns the objects that the platform requires, and a second gateway.
func platformNeeds() []client.Object {
	return []client.Object{
		&gatewayv1.Gateway{ObjectMeta: metav1.ObjectMeta{Namespace: config.Gateway.Namespace, Name: config.Gateway.Name}},
		&gatewayv1.Gateway{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "other"}},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: config.AppNamespace, Name: tenant.DatabaseSecret},
			Data:       map[string][]byte{"DB_CONNECTION_URL": []byte("postgres://")},
		},
		&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: tenant.MonitoringSpace, Name: tenant.MonitoringName},
			Data:       map[string]string{"config.yaml": "enableUserWorkload: true"},
		},
	}
}
