package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// without is what an operator has to do without: writes of children, deletions, or being woken by what it has read.
type without struct{ apply, prune, tracker bool }

// deafManager gives out a client and a cache that do without something.
type deafManager struct {
	manager.Manager
	without
}

func (m deafManager) GetClient() client.Client { return deafClient{m.Manager.GetClient(), m.without} }
func (m deafManager) GetCache() cache.Cache    { return deafCache{m.Manager.GetCache(), m.without} }

// GetClock is the clock of the test.
func (m deafManager) GetClock() clock.PassiveClock {
	return m.Manager.(controller.Timekeeper).GetClock()
}

// deafClient acknowledges what it does not send.
type deafClient struct {
	client.Client
	without
}

func (c deafClient) Patch(ctx context.Context, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if kind, err := c.GroupVersionKindFor(object); err == nil && kind.Kind != "ModelRegistry" && c.apply {
		return nil
	}
	return c.Client.Patch(ctx, object, patch, opts...)
}

func (c deafClient) Delete(ctx context.Context, object client.Object, opts ...client.DeleteOption) error {
	if c.prune {
		return nil
	}
	return c.Client.Delete(ctx, object, opts...)
}

// deafCache tells nobody of the events of objects that the operator reads and neither owns nor makes, so that what the tracker
// remembers of them is of no use.
type deafCache struct {
	cache.Cache
	without
}

func (c deafCache) GetInformer(ctx context.Context, object client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	informer, err := c.Cache.GetInformer(ctx, object, opts...)
	switch object.(type) {
	case *corev1.Endpoints, *corev1.Pod, *unstructured.Unstructured: //nolint:staticcheck // the product's interface is Endpoints
		if c.tracker {
			return mute{informer}, err
		}
	}
	return informer, err
}

type mute struct{ cache.Informer }

func (m mute) AddEventHandlerWithOptions(
	_ toolscache.ResourceEventHandler, options toolscache.HandlerOptions,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return m.Informer.AddEventHandlerWithOptions(toolscache.ResourceEventHandlerFuncs{}, options)
}

// verdict takes down what a scenario says, instead of failing the test.
type verdict struct {
	testing.TB
	findings []string
}

func (v *verdict) Error(args ...any)                 { v.findings = append(v.findings, fmt.Sprint(args...)) }
func (v *verdict) Errorf(format string, args ...any) { v.Error(fmt.Sprintf(format, args...)) }
func (v *verdict) Fatalf(format string, args ...any) { v.Fatal(fmt.Sprintf(format, args...)) }
func (v *verdict) Fatal(args ...any) {
	v.Error(args...)
	runtime.Goexit()
}

// of returns what is wrong with a scenario, empty when it holds.
func (v *verdict) of(scenario reconciletest.Scenario) string {
	done := make(chan struct{})
	go func() {
		defer close(done)
		scenario.Run(v)
	}()
	<-done
	return strings.Join(v.findings, "\n")
}

// later lets somebody act once the system has come to rest: the pass that made the object is followed by one more.
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

// TestSDKIsNeeded: what the example shows rests on the SDK. The same expectations hold with all of it, and each does not hold once
// its part is off.
func TestSDKIsNeeded(t *testing.T) {
	t.Parallel()
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	registries := func() reconciletest.System { return registrySystem(t, external(), withoutProxy) }
	server, catalogServer := &appsv1.Deployment{ObjectMeta: named("r")}, &appsv1.Deployment{ObjectMeta: named("model-catalog")}
	for name, tc := range map[string]struct {
		reason   string
		off      without
		system   func() reconciletest.System
		standIn  func() reconciletest.StandIn // a new one for each run
		scenario reconciletest.Scenario
	}{
		"Apply": {
			reason: "children are written", off: without{apply: true}, system: registries,
			scenario: reconciletest.Scenario{Expect: []client.Object{server, &corev1.Service{ObjectMeta: named("r")}}},
		},
		"Prune": {
			reason: "children that are wanted no longer go", off: without{prune: true}, system: registries,
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
			reason: "what was looked for wakes the registry when it comes", off: without{tracker: true},
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
			reason: "children are written", off: without{apply: true}, system: func() reconciletest.System { return catalogSystem(t, nil) },
			scenario: reconciletest.Scenario{Expect: []client.Object{catalogServer}},
		},
		"Prune of the catalog": {
			reason: "children that are wanted no longer go", off: without{prune: true},
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
			reason: "what was looked for wakes the catalog when it comes", off: without{tracker: true},
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
			run := func(off without) string {
				scenario := tc.scenario
				scenario.System = tc.system()
				setup := scenario.System.Setup
				scenario.System.Setup = func(mgr manager.Manager) error { return setup(deafManager{mgr, off}) }
				scenario.System.StandIns = append(scenario.System.StandIns, reconciletest.DeploymentsAvailable)
				if tc.standIn != nil {
					scenario.System.StandIns = append(scenario.System.StandIns, tc.standIn())
				}
				return (&verdict{TB: t}).of(scenario)
			}
			if wrong := run(without{}); wrong != "" {
				t.Errorf("%s: with the whole SDK: %s", tc.reason, wrong)
			}
			wrong := run(tc.off)
			if wrong == "" {
				t.Errorf("%s: holds without it", tc.reason)
			}
			t.Logf("without: %s", wrong)
		})
	}
}

// endpoints are those of a server that answers.
func endpoints(name string) client.Object {
	return &corev1.Endpoints{ //nolint:staticcheck // the product's interface is this kind
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Subsets:    []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "10.0.0.1"}}}}, //nolint:staticcheck // as above
	}
}

// administrators is the platform's object that names them.
func administrators() client.Object {
	auth := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"adminGroups": []any{"admins"}}}}
	auth.SetAPIVersion("services.platform.opendatahub.io/v1alpha1")
	auth.SetKind("Auth")
	auth.SetName("auth")
	return auth
}
