package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/rights"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

const (
	home     = "models-as-a-service" // the namespace of subscriptions
	app      = "opendatahub"         // namespace of the platform's API
	patience = 2 * time.Minute
)

// TestRights checks that the operator uses each of its permissions and needs no others.
func TestRights(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	cl := startCluster(t)
	page := pageOf(t)
	granted := cl.env.Rights(t, page.Rules())
	var counted requests.Requests
	counted.Inject(rights.RefusedOnce())
	stop := cl.run(counted.Observe(granted.Config()))

	cl.platform(granted)
	cl.models(granted)

	entry := chatEntry()
	if !cl.found(entry) {
		t.Fatal("the entry of the model was removed")
	}
	stop() // children planned by an earlier version exist when the operator starts again
	old, err := rights.Outdated(entry, "old", cl.env.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	if err := rights.CreateOutdated(cl.Context(), cl.c, old); err != nil {
		t.Fatal(err)
	}
	cl.run(granted.Config())
	cl.gone(old)

	cl.withdraw()
	granted.Check(t, map[string]string{
		"patch events.k8s.io/events": "for a repeated event, tested in the library",
	})
}

// platform installs the platform and moves it to another namespace than its tenant's.
func (cl *cluster) platform(granted *environment.Rights) {
	cl.Helper()
	cl.apply(gateway, `
apiVersion: v1
kind: Secret
metadata: {name: maas-db-config, namespace: opendatahub}
stringData: {DB_CONNECTION_URL: "postgres://"}
`, tenantYAML)
	cl.urge(tenant(), "all objects of the platform", func() bool {
		for kind := range strings.SplitSeq(platformKinds, ", ") {
			if cl.ofPlatform(kind) == 0 {
				return false
			}
		}
		return cl.ofPlatform(bindings) == 3
	})
	// The operator must have each permission that the roles of the platform grant.
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "maas-api"}}
	reader := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "payload-processing-reader"}}
	supplemental := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "maas-api-supplemental"}}
	for i, part := range []struct {
		right    string
		granting *rbacv1.ClusterRole
	}{
		{"create authentication.k8s.io/tokenreviews", role},
		{"create authorization.k8s.io/subjectaccessreviews", role},
		{"get secrets", reader},
		{"get gateway.networking.k8s.io/gateways", supplemental},
		{"get namespaces", supplemental},
	} {
		granted.Without(cl, part.right, func() { // the repaired role would grant a permission that the operator lacks
			cl.patch(part.granting, fmt.Sprintf(`{"rules":[{"apiGroups":["example.com"],"resources":["%d"],"verbs":["get"]}]}`, i))
		})
	}
	cl.apply(strings.ReplaceAll(gateway, "openshift-ingress", home))
	granted.Without(cl, "update maas.opendatahub.io/tenants/finalizers", func() { // for objects in other namespaces than the tenant's
		cl.patch(tenant(), `{"spec":{"gatewayRef":{"namespace":"`+home+`"}}}`)
	})
	for _, granting := range []*rbacv1.ClusterRole{role, reader, supplemental} {
		cl.urge(tenant(), granting.Name, func() bool { return cl.found(granting) && granting.Rules[0].APIGroups[0] != "example.com" })
	}
}

const (
	gateway = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: maas-default-gateway, namespace: openshift-ingress}
spec: {gatewayClassName: x, listeners: [{name: http, port: 80, protocol: HTTP, hostname: maas.example.com}]}
`
	tenantYAML = `
apiVersion: maas.opendatahub.io/v1alpha1
kind: Tenant
metadata: {name: default-tenant, namespace: models-as-a-service}
spec: {telemetry: {enabled: true}}
`
)

func tenant() client.Object {
	return named(maasv1alpha1.GroupVersion.WithKind("Tenant"), home, "default-tenant")
}

// named returns an empty object of the kind, to read or delete.
func named(gvk schema.GroupVersionKind, namespace, name string) client.Object {
	u := models.Kind(gvk)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

func chatEntry() client.Object {
	return named(models.ServiceEntry, "llm", "chat")
}

// models creates models with limits and access policies.
func (cl *cluster) models(granted *environment.Rights) {
	cl.Helper()
	model := `
apiVersion: maas.opendatahub.io/v1alpha1
kind: ExternalModel
metadata: {name: chat, namespace: llm}
spec: {provider: openai, targetModel: gpt, endpoint: api.openai.com, credentialRef: {name: key}}
`
	cl.apply(model, `
apiVersion: maas.opendatahub.io/v1alpha1
kind: MaaSModelRef
metadata: {name: chat, namespace: llm}
spec: {modelRef: {kind: ExternalModel, name: chat}}
`)
	route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: "llm", Name: "chat"}}
	cl.urge(object(cl, model), "the model's children", func() bool { return cl.found(route) && cl.found(chatEntry()) })
	granted.Without(cl, "update maas.opendatahub.io/externalmodels/finalizers", func() {
		cl.apply(strings.ReplaceAll(model, "name: chat", "name: code"))
	})
	subscription := `
apiVersion: maas.opendatahub.io/v1alpha1
kind: MaaSSubscription
metadata: {name: a, namespace: models-as-a-service}
spec: {owner: {users: [u]}, modelRefs: [{name: chat, namespace: llm, tokenRateLimits: [{limit: 1, window: 1m}]}]}
`
	policy := `
apiVersion: maas.opendatahub.io/v1alpha1
kind: MaaSAuthPolicy
metadata: {name: a, namespace: models-as-a-service}
spec: {subjects: {users: [u]}, modelRefs: [{name: chat, namespace: llm}]}
`
	granted.Without(cl, "update gateway.networking.k8s.io/httproutes/finalizers", func() { cl.apply(subscription) })
	cl.apply(policy)
	limits := named(models.TokenRateLimitPolicy, "llm", "maas-trlp-chat")
	access := named(models.AuthPolicy, "llm", "maas-auth-chat")
	cl.urge(object(cl, subscription), "limits", func() bool { return cl.found(limits) })
	cl.urge(object(cl, policy), "access", func() bool { return cl.found(access) })
	cl.remove(subscription, policy)
	cl.gone(limits)
	cl.gone(access)
}

// withdraw deletes the platform and all its objects.
func (cl *cluster) withdraw() {
	cl.Helper()
	cl.patch(tenant(), `{"metadata":{"annotations":{"component.opendatahub.io/management-state":"Removed"}}}`)
	for kind := range strings.SplitSeq(platformKinds, ", ") {
		cl.eventually("no more "+kind, func() bool { return cl.ofPlatform(kind) == 0 })
	}
}

// Kinds of the objects of the platform.
const (
	platformKinds = "v1 ServiceAccount, v1 ConfigMap, v1 Service, apps/v1 Deployment, batch/v1 CronJob, networking.k8s.io/v1 NetworkPolicy, " +
		"gateway.networking.k8s.io/v1 HTTPRoute, rbac.authorization.k8s.io/v1 ClusterRole, " + bindings +
		", kuadrant.io/v1 AuthPolicy, kuadrant.io/v1alpha1 TokenRateLimitPolicy, networking.istio.io/v1 DestinationRule, " +
		"networking.istio.io/v1alpha3 EnvoyFilter, telemetry.istio.io/v1 Telemetry, extensions.kuadrant.io/v1alpha1 TelemetryPolicy, " +
		"perses.dev/v1alpha1 PersesDashboard, perses.dev/v1alpha1 PersesDatasource"
	bindings = "rbac.authorization.k8s.io/v1 ClusterRoleBinding"
)

// ofPlatform counts the objects of a kind that belong to the platform.
func (cl *cluster) ofPlatform(kind string) int {
	cl.Helper()
	version, name, _ := strings.Cut(kind, " ")
	list := models.List(schema.FromAPIVersionAndKind(version, name))
	if err := cl.c.List(cl.Context(), list, client.MatchingLabels{"app.opendatahub.io/modelsasservice": "true"}); err != nil {
		cl.Fatal(err)
	}
	return len(list.Items)
}
