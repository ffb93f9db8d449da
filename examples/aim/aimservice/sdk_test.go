package aimservice_test

import (
	"context"
	"errors"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/standin/ready"
)

// TestSDKIsNeeded checks that the results of the example depend on each part of the library: a scenario holds with the
// complete library, and fails without the part.
func TestSDKIsNeeded(t *testing.T) {
	t.Parallel()
	known := kruntime.NewScheme()
	if err := aimservice.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	const ns = "default"
	isvcName, isvcErr := aimservice.GenerateInferenceServiceName("s", ns)
	routeName, routeErr := aimservice.GenerateHTTPRouteName("s", ns)
	if err := errors.Join(isvcErr, routeErr); err != nil {
		t.Fatal(err)
	}
	is := func(state aimv1alpha1.AIMServiceState) *aimv1alpha1.AIMService {
		return &aimv1alpha1.AIMService{ObjectMeta: named(ns, "s"), Status: aimv1alpha1.AIMServiceStatus{Status: state}}
	}
	// when returns a stand-in that acts once the service has the given state.
	when := func(state aimv1alpha1.AIMServiceState, act func(ctx context.Context, c client.Client, s *aimv1alpha1.AIMService) error) reconciletest.StandIn {
		return func(ctx context.Context, c client.Client) error {
			s := is("")
			if err := c.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil || s.Status.Status != state {
				return client.IgnoreNotFound(err)
			}
			return act(ctx, c, s)
		}
	}
	for name, tc := range map[string]struct {
		reason   string
		off      reconciletest.Without
		service  *aimv1alpha1.AIMService
		given    []client.Object
		standIn  func() reconciletest.StandIn // a new one for each run
		scenario reconciletest.Scenario
	}{
		"Apply": {
			reason: "children are written", off: reconciletest.Without{Apply: true}, service: routedTo(serviceOf(ns, "s", "m"), "/s"),
			given: []client.Object{readyModel(ns, "m"), readyTemplate(ns, "t", "m")},
			scenario: reconciletest.Scenario{Expect: []client.Object{
				is("Running"),
				&kserve.InferenceService{ObjectMeta: named(ns, isvcName)}, &gatewayv1.HTTPRoute{ObjectMeta: named(ns, routeName)},
			}},
		},
		"Prune": {
			reason: "unwanted children are deleted", off: reconciletest.Without{Prune: true},
			service: routedTo(serviceOf(ns, "s", "m"), "/s"),
			given:   []client.Object{readyModel(ns, "m"), readyTemplate(ns, "t", "m")},
			standIn: func() reconciletest.StandIn {
				return when("Running", func(ctx context.Context, c client.Client, s *aimv1alpha1.AIMService) error {
					if !*s.Spec.Routing.Enabled {
						return nil
					}
					s.Spec.Routing.Enabled = new(false)
					return c.Update(ctx, s)
				})
			},
			scenario: reconciletest.Scenario{
				Expect: []client.Object{is("Running")}, Gone: []client.Object{&gatewayv1.HTTPRoute{ObjectMeta: named(ns, routeName)}},
			},
		},
		"Tracker": {
			reason: "a created dependency triggers the service", off: reconciletest.Without{Tracker: true},
			service: serviceOf(ns, "s", "m"),
			given:   []client.Object{readyModel(ns, "m")},
			standIn: func() reconciletest.StandIn {
				seen := ""
				return when("Pending", func(ctx context.Context, c client.Client, s *aimv1alpha1.AIMService) error {
					if s.ResourceVersion != seen { // wait until the operator has stopped changing it
						seen = s.ResourceVersion
						return nil
					}
					return client.IgnoreAlreadyExists(c.Create(ctx, readyTemplate(ns, "t", "m")))
				})
			},
			scenario: reconciletest.Scenario{Expect: []client.Object{is("Running")}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			reconciletest.Needs(t, tc.off, func() reconciletest.Scenario {
				scenario := tc.scenario
				scenario.System = reconciletest.System{
					Setup:  func(mgr manager.Manager) error { return aimservice.New().SetupWithManager(mgr) },
					Scheme: known, CRDPaths: []string{"../config/crd", "../config/kserve"},
					Given: tc.given, Owners: []client.Object{tc.service}, StandIns: []reconciletest.StandIn{ready.Everything},
				}
				if tc.standIn != nil {
					scenario.System.StandIns = append(scenario.System.StandIns, tc.standIn())
				}
				return scenario
			})
		})
	}
}
