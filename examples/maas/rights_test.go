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
	app      = "opendatahub"         // that of the platform's API
	patience = 2 * time.Minute
)

// TestRights: the operator uses each of its rights, and needs no other one.
func TestRights(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	th := open(t)
	page := pageOf(t)
	granted := th.env.Rights(t, page.Rules())
	var counted requests.Requests
	counted.Inject(rights.RefusedOnce())
	stop := th.run(counted.Observe(granted.Config()))

	th.platform(granted)
	th.models(granted)

	entry := chatEntry()
	if !th.found(entry) {
		t.Fatal("the model's entry is gone")
	}
	stop() // and what an earlier version had planned is there when it comes back
	old, err := rights.Outdated(entry, "old", th.env.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	if err := rights.CreateOutdated(th.Context(), th.c, old); err != nil {
		t.Fatal(err)
	}
	th.run(granted.Config())
	th.gone(old)

	th.withdraw()
	granted.Check(t, map[string]string{
		"patch events.k8s.io/events": "for an event that repeats itself, as in the tests of the SDK",
	})
}

// platform installs it, and moves it beside its tenant.
func (th *theater) platform(granted *environment.Rights) {
	th.Helper()
	th.apply(gateway, `
apiVersion: v1
kind: Secret
metadata: {name: maas-db-config, namespace: opendatahub}
stringData: {DB_CONNECTION_URL: "postgres://"}
`, tenantYAML)
	th.urge(tenant(), "all of the platform", func() bool {
		for kind := range strings.SplitSeq(platformKinds, ", ") {
			if th.ofPlatform(kind) == 0 {
				return false
			}
		}
		return th.ofPlatform(bindings) == 3
	})
	// What the platform's roles grant, the operator must have itself.
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
		granted.Without(th, part.right, func() { // the role is mended, and would grant what the operator may not
			th.patch(part.granting, fmt.Sprintf(`{"rules":[{"apiGroups":["example.com"],"resources":["%d"],"verbs":["get"]}]}`, i))
		})
	}
	th.apply(strings.ReplaceAll(gateway, "openshift-ingress", home))
	granted.Without(th, "update maas.opendatahub.io/tenants/finalizers", func() { // of what is beside its tenant
		th.patch(tenant(), `{"spec":{"gatewayRef":{"namespace":"`+home+`"}}}`)
	})
	for _, granting := range []*rbacv1.ClusterRole{role, reader, supplemental} {
		th.urge(tenant(), granting.Name, func() bool { return th.found(granting) && granting.Rules[0].APIGroups[0] != "example.com" })
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

// named is an object of the kind that is looked for or removed.
func named(gvk schema.GroupVersionKind, namespace, name string) client.Object {
	u := models.Kind(gvk)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

func chatEntry() client.Object {
	return named(models.ServiceEntry, "llm", "chat")
}

// models are served, limited and given away.
func (th *theater) models(granted *environment.Rights) {
	th.Helper()
	model := `
apiVersion: maas.opendatahub.io/v1alpha1
kind: ExternalModel
metadata: {name: chat, namespace: llm}
spec: {provider: openai, targetModel: gpt, endpoint: api.openai.com, credentialRef: {name: key}}
`
	th.apply(model, `
apiVersion: maas.opendatahub.io/v1alpha1
kind: MaaSModelRef
metadata: {name: chat, namespace: llm}
spec: {modelRef: {kind: ExternalModel, name: chat}}
`)
	route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: "llm", Name: "chat"}}
	th.urge(object(th, model), "the model's children", func() bool { return th.found(route) && th.found(chatEntry()) })
	granted.Without(th, "update maas.opendatahub.io/externalmodels/finalizers", func() {
		th.apply(strings.ReplaceAll(model, "name: chat", "name: code"))
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
	granted.Without(th, "update gateway.networking.k8s.io/httproutes/finalizers", func() { th.apply(subscription) })
	th.apply(policy)
	limits := named(models.TokenRateLimitPolicy, "llm", "maas-trlp-chat")
	access := named(models.AuthPolicy, "llm", "maas-auth-chat")
	th.urge(object(th, subscription), "limits", func() bool { return th.found(limits) })
	th.urge(object(th, policy), "access", func() bool { return th.found(access) })
	th.remove(subscription, policy)
	th.gone(limits)
	th.gone(access)
}

// withdraw takes the platform back, and all that it consists of.
func (th *theater) withdraw() {
	th.Helper()
	th.patch(tenant(), `{"metadata":{"annotations":{"component.opendatahub.io/management-state":"Removed"}}}`)
	for kind := range strings.SplitSeq(platformKinds, ", ") {
		th.eventually("no more "+kind, func() bool { return th.ofPlatform(kind) == 0 })
	}
}

// platformKinds are those of the objects of the platform.
const (
	platformKinds = "v1 ServiceAccount, v1 ConfigMap, v1 Service, apps/v1 Deployment, batch/v1 CronJob, networking.k8s.io/v1 NetworkPolicy, " +
		"gateway.networking.k8s.io/v1 HTTPRoute, rbac.authorization.k8s.io/v1 ClusterRole, " + bindings +
		", kuadrant.io/v1 AuthPolicy, kuadrant.io/v1alpha1 TokenRateLimitPolicy, networking.istio.io/v1 DestinationRule, " +
		"networking.istio.io/v1alpha3 EnvoyFilter, telemetry.istio.io/v1 Telemetry, extensions.kuadrant.io/v1alpha1 TelemetryPolicy, " +
		"perses.dev/v1alpha1 PersesDashboard, perses.dev/v1alpha1 PersesDatasource"
	bindings = "rbac.authorization.k8s.io/v1 ClusterRoleBinding"
)

// ofPlatform counts the objects of the kind.
func (th *theater) ofPlatform(kind string) int {
	th.Helper()
	version, name, _ := strings.Cut(kind, " ")
	list := models.List(schema.FromAPIVersionAndKind(version, name))
	if err := th.c.List(th.Context(), list, client.MatchingLabels{"app.opendatahub.io/modelsasservice": "true"}); err != nil {
		th.Fatal(err)
	}
	return len(list.Items)
}
