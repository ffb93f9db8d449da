package main

import (
	"context"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// later returns a stand-in that acts in steady state: one reconciliation after the one that created the object.
func later(object client.Object, act func(ctx context.Context, c client.Client, object client.Object) error) reconciletest.StandIn {
	quiet := 0
	return func(ctx context.Context, c client.Client) error {
		found := object.DeepCopyObject().(client.Object)
		if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: object.GetName()}, found); err != nil {
			return client.IgnoreNotFound(err)
		}
		if quiet++; quiet < 2 {
			return nil
		}
		return act(ctx, c, found)
	}
}

// TestSDKIsNeeded checks that the results of the example depend on each part of the library: a scenario holds with the
// complete library, and fails without the part.
func TestSDKIsNeeded(t *testing.T) {
	t.Parallel()
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	registries := func() reconciletest.System { return registrySystem(t, external(), withoutProxy) }
	server, catalogServer := &appsv1.Deployment{ObjectMeta: named("r")}, &appsv1.Deployment{ObjectMeta: named("model-catalog")}
	for name, tc := range map[string]struct {
		reason   string
		off      reconciletest.Without
		system   func() reconciletest.System
		standIn  func() reconciletest.StandIn // a new one for each run
		scenario reconciletest.Scenario
	}{
		"Apply": {
			reason: "children are written", off: reconciletest.Without{Apply: true}, system: registries,
			scenario: reconciletest.Scenario{Expect: []client.Object{server, &corev1.Service{ObjectMeta: named("r")}}},
		},
		"Prune": {
			reason: "unwanted children are deleted", off: reconciletest.Without{Prune: true}, system: registries,
			standIn: func() reconciletest.StandIn {
				return later(server, func(ctx context.Context, c client.Client, _ client.Object) error {
					r := &v1beta1.ModelRegistry{}
					if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "r"}, r); err != nil || r.Spec.KubeRBACProxy == nil {
						return err
					}
					r.Spec.KubeRBACProxy = nil
					return c.Update(ctx, r)
				})
			},
			scenario: reconciletest.Scenario{Expect: []client.Object{server}, Gone: []client.Object{
				&corev1.ConfigMap{ObjectMeta: named("r-kube-rbac-proxy-config")},
				&rbacv1.ClusterRoleBinding{ObjectMeta: named("r-auth-delegator")},
			}},
		},
		"Tracker": {
			reason: "a created dependency enqueues the registry", off: reconciletest.Without{Tracker: true},
			system: func() reconciletest.System {
				spec := external()
				spec.KubeRBACProxy = nil
				return registrySystem(t, spec, withoutProxy)
			},
			standIn: func() reconciletest.StandIn {
				return later(&v1beta1.ModelRegistry{ObjectMeta: named("r")}, func(ctx context.Context, c client.Client, o client.Object) error {
					for _, condition := range o.(*v1beta1.ModelRegistry).Status.Conditions {
						if condition.Type == "Available" && strings.HasPrefix(condition.Message, "Service endpoints not found") {
							return client.IgnoreAlreadyExists(c.Create(ctx, endpoints("r")))
						}
					}
					return nil
				})
			},
			scenario: reconciletest.Scenario{Expect: []client.Object{&v1beta1.ModelRegistry{
				ObjectMeta: named("r"), Status: v1beta1.ModelRegistryStatus{Conditions: []metav1.Condition{
					{Type: "Available", Status: metav1.ConditionTrue, Reason: "DeploymentAvailable", Message: "Deployment is available"},
				}},
			}}},
		},
		"Apply of the catalog": {
			reason: "children are written", off: reconciletest.Without{Apply: true},
			system:   func() reconciletest.System { return catalogSystem(t, nil) },
			scenario: reconciletest.Scenario{Expect: []client.Object{catalogServer}},
		},
		"Prune of the catalog": {
			reason: "unwanted children are deleted", off: reconciletest.Without{Prune: true},
			system: func() reconciletest.System { return catalogSystem(t, nil, administrators()) },
			standIn: func() reconciletest.StandIn {
				return later(&rbacv1.RoleBinding{ObjectMeta: named("model-catalog-admin-binding")},
					func(ctx context.Context, c client.Client, _ client.Object) error {
						return client.IgnoreNotFound(c.Delete(ctx, administrators()))
					})
			},
			scenario: reconciletest.Scenario{
				Expect: []client.Object{catalogServer},
				Gone:   []client.Object{&rbacv1.RoleBinding{ObjectMeta: named("model-catalog-admin-binding")}},
			},
		},
		"Tracker of the catalog": {
			reason: "a created dependency enqueues the catalog", off: reconciletest.Without{Tracker: true},
			system: func() reconciletest.System { return catalogSystem(t, nil) },
			standIn: func() reconciletest.StandIn {
				last := &networkingv1.NetworkPolicy{ObjectMeta: named("model-catalog-postgres")}
				return later(last, func(ctx context.Context, c client.Client, _ client.Object) error {
					return client.IgnoreAlreadyExists(c.Create(ctx, administrators()))
				})
			},
			scenario: reconciletest.Scenario{ExpectYAML: "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: model-catalog-admin-binding}\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			reconciletest.Needs(t, tc.off, func() reconciletest.Scenario {
				scenario := tc.scenario
				scenario.System = tc.system()
				scenario.System.StandIns = append(scenario.System.StandIns, reconciletest.DeploymentsAvailable)
				if tc.standIn != nil {
					scenario.System.StandIns = append(scenario.System.StandIns, tc.standIn())
				}
				return scenario
			})
		})
	}
}

// endpoints returns the Endpoints of a server that responds.
func endpoints(name string) client.Object {
	return &corev1.Endpoints{ //nolint:staticcheck // the product's interface is this kind
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Subsets:    []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "10.0.0.1"}}}}, //nolint:staticcheck // as above
	}
}

// administrators returns the object of the platform that lists administrators.
func administrators() client.Object {
	auth := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"adminGroups": []any{"admins"}}}}
	auth.SetAPIVersion("services.platform.opendatahub.io/v1alpha1")
	auth.SetKind("Auth")
	auth.SetName("auth")
	return auth
}
