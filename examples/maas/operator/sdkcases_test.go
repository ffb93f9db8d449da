package operator_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// sdkCase is a scenario and the part of the library that it needs.
type sdkCase struct {
	off       reconciletest.Without
	system    func(t *testing.T) reconciletest.System
	meanwhile func() reconciletest.StandIn // a new one for each run
	expect    string
	gone      []client.Object
}

// single reduces a system to its first owner.
func single(of func(t *testing.T) reconciletest.System) func(t *testing.T) reconciletest.System {
	return func(t *testing.T) reconciletest.System {
		s := of(t)
		s.Owners = s.Owners[:1]
		return s
	}
}

// given replaces the given objects of a system.
func given(of func(t *testing.T) reconciletest.System, testCluster string) func(t *testing.T) reconciletest.System {
	return func(t *testing.T) reconciletest.System {
		s := of(t)
		s.GivenYAML = testCluster
		return s
	}
}

func generated(gvk schema.GroupVersionKind, namespace, name string) []client.Object {
	u := models.Kind(gvk)
	u.SetNamespace(namespace)
	u.SetName(name)
	return []client.Object{u}
}

func sdkCases() map[string]sdkCase {
	all := applyCases()
	maps.Copy(all, pruneCases())
	maps.Copy(all, trackerCases())
	return all
}

// applyCases need children to be written.
func applyCases() map[string]sdkCase {
	off := reconciletest.Without{Apply: true}
	return map[string]sdkCase{
		"apply/ExternalModel": {off: off, system: externalModel, expect: `
{apiVersion: v1, kind: Service, metadata: {name: chat}, spec: {externalName: api.openai.com}}
`},
		"apply/MaaSSubscription": {off: off, system: subscriptions, expect: `
apiVersion: kuadrant.io/v1alpha1
kind: TokenRateLimitPolicy
metadata: {name: maas-trlp-chat, annotations: {maas.opendatahub.io/subscriptions: "a,b,c"}}
---
{apiVersion: maas.opendatahub.io/v1alpha1, kind: MaaSSubscription, metadata: {name: c}, status: {phase: Active}}
`},
		"apply/MaaSAuthPolicy": {off: off, system: authPolicies, expect: `
apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata: {name: maas-auth-chat, annotations: {maas.opendatahub.io/auth-policies: "a,b,c"}}
---
{apiVersion: maas.opendatahub.io/v1alpha1, kind: MaaSAuthPolicy, metadata: {name: c}, status: {phase: Active}}
`},
		"apply/Tenant": {off: off, system: platform, expect: `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: maas-api, namespace: opendatahub}}
---
{apiVersion: maas.opendatahub.io/v1alpha1, kind: Tenant, metadata: {name: default-tenant, namespace: models-as-a-service}, status: {phase: Active}}
`},
	}
}

// pruneCases need unwanted children to be deleted.
func pruneCases() map[string]sdkCase {
	off := reconciletest.Without{Prune: true}
	code := []any{map[string]any{"name": "code", "namespace": "default"}}
	limited := []any{map[string]any{
		"name": "code", "namespace": "default", "tokenRateLimits": []any{map[string]any{"limit": int64(1), "window": "1m"}},
	}}
	return map[string]sdkCase{
		"prune/ExternalModel": {
			off: off, system: externalModel,
			meanwhile: once("ExternalModel", "chat", "Ready", 0, set("false", "metadata", "annotations", "maas.opendatahub.io/tls")),
			expect:    "{apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: {name: chat}, spec: {ports: [{number: 443, name: http, protocol: HTTP}]}}",
			gone:      generated(models.DestinationRule, "", "chat"),
		},
		"prune/MaaSSubscription": {
			off: off, system: single(subscriptions),
			meanwhile: once("MaaSSubscription", "a", "Active", 0, set(limited, "spec", "modelRefs")),
			expect:    "{apiVersion: kuadrant.io/v1alpha1, kind: TokenRateLimitPolicy, metadata: {name: maas-trlp-code}}",
			gone:      generated(models.TokenRateLimitPolicy, "", "maas-trlp-chat"),
		},
		"prune/MaaSAuthPolicy": {
			off: off, system: single(authPolicies),
			meanwhile: once("MaaSAuthPolicy", "a", "Active", 0, set(code, "spec", "modelRefs")),
			expect:    "{apiVersion: kuadrant.io/v1, kind: AuthPolicy, metadata: {name: maas-auth-code}}",
			gone:      generated(models.AuthPolicy, "", "maas-auth-chat"),
		},
		"prune/Tenant": {
			off: off, system: platform,
			meanwhile: once("Tenant", "default-tenant", "Active", 0, set(false, "spec", "telemetry", "enabled")),
			expect:    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: maas-api, namespace: opendatahub}}",
			gone: generated(schema.GroupVersionKind{Group: "telemetry.istio.io", Version: "v1", Kind: "Telemetry"},
				config.Gateway.Namespace, "latency-per-subscription"),
		},
	}
}

// trackerCases need the creation of a missing object to enqueue the owner.
func trackerCases() map[string]sdkCase {
	off := reconciletest.Without{Tracker: true}
	comes := func(object client.Object) action {
		return func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.Create(ctx, object.DeepCopyObject().(client.Object))
		}
	}
	namespace := gatewayv1.Namespace(config.Gateway.Namespace)
	route := &gatewayv1.HTTPRoute{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "chat"},
		Spec: gatewayv1.HTTPRouteSpec{CommonRouteSpec: gatewayv1.CommonRouteSpec{
			ParentRefs: []gatewayv1.ParentReference{{Name: gatewayv1.ObjectName(config.Gateway.Name), Namespace: &namespace}},
		}},
	}
	model := &maasv1alpha1.MaaSModelRef{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "chat"},
		Spec:       &maasv1alpha1.MaaSModelRefSpec{ModelRef: maasv1alpha1.ModelReference{Kind: maasv1alpha1.BackendExternalModel, Name: "chat"}},
	}
	gateway := &gatewayv1.Gateway{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "other"}}
	return map[string]sdkCase{
		"tracker/MaaSModelRef": {
			off: off, system: given(modelRef, chatModel),
			meanwhile: once("MaaSModelRef", "mine", "Pending", 1, comes(route)),
			expect: `
{apiVersion: maas.opendatahub.io/v1alpha1, kind: MaaSModelRef, metadata: {name: mine}, status: {phase: Pending, httpRouteName: chat}}
`,
		},
		"tracker/MaaSSubscription": {
			off: off, system: given(single(subscriptions), chatRoute),
			meanwhile: once("MaaSSubscription", "a", "Failed", 2, comes(model)),
			expect: `
{apiVersion: maas.opendatahub.io/v1alpha1, kind: MaaSSubscription, metadata: {name: a}, status: {phase: Active}}
`,
		},
		"tracker/MaaSAuthPolicy": {
			off: off, system: given(single(authPolicies), chatRoute),
			meanwhile: once("MaaSAuthPolicy", "a", "Failed", 1, comes(model)),
			expect: `
{apiVersion: maas.opendatahub.io/v1alpha1, kind: MaaSAuthPolicy, metadata: {name: a}, status: {phase: Active}}
`,
		},
		"tracker/Tenant": {
			off: off, system: func(t *testing.T) reconciletest.System {
				s := platform(t)
				s.Change(s.Owners[0])
				s.Given = slices.DeleteFunc(s.Given, func(o client.Object) bool { return o.GetName() == gateway.Name })
				return s
			},
			meanwhile: once("Tenant", "default-tenant", "Pending", 1, comes(gateway)),
			expect: `
{apiVersion: maas.opendatahub.io/v1alpha1, kind: Tenant, metadata: {name: default-tenant, namespace: models-as-a-service}, status: {phase: Active}}
`,
		},
	}
}
