package aimservice_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/standin/ready"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// without is what an operator has to do without.
type without struct{ apply, prune, tracker bool }

// setup adds such an operator to a manager.
func (w without) setup(mgr manager.Manager) error {
	services := aimservice.New()
	if w.tracker {
		services = aimservice.Declare(&untracked{reader: mgr.GetClient()})
	}
	return services.SetupWithManager(deafManager{mgr, w})
}

// deafManager gives out a client that does without something.
type deafManager struct {
	manager.Manager
	without
}

func (m deafManager) GetClient() client.Client { return deafClient{m.Manager.GetClient(), m.without} }

// GetClock is the clock of the test.
func (m deafManager) GetClock() clock.PassiveClock {
	return m.Manager.(controller.Timekeeper).GetClock()
}

// deafClient acknowledges what it does not send: writes of children, or deletions.
type deafClient struct {
	client.Client
	without
}

func (c deafClient) Patch(ctx context.Context, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if kind, err := c.GroupVersionKindFor(object); err == nil && kind.Kind != "AIMService" && c.apply {
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

// untracked are phases whose reads nobody notes.
type untracked struct {
	aimservice.ServiceReconciler
	reader client.Reader
}

func (u *untracked) FetchRemoteState(
	ctx context.Context, _ reconcile.Reader, rc reconcile.ReconcileContext[*aimv1alpha1.AIMService],
) aimservice.ServiceFetchResult {
	return u.ServiceReconciler.FetchRemoteState(ctx, u.reader, rc)
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

// TestSDKIsNeeded: what the example shows rests on the SDK. The same expectations hold with all of it, and each does
// not hold once its part is off.
func TestSDKIsNeeded(t *testing.T) {
	t.Parallel()
	known := kruntime.NewScheme()
	if err := aimservice.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	const ns = "default"
	names, err := aimservice.NamesOf(serviceOf(ns, "s", "m"))
	if err != nil {
		t.Fatal(err)
	}
	is := func(state aimv1alpha1.AIMServiceState) *aimv1alpha1.AIMService {
		return &aimv1alpha1.AIMService{ObjectMeta: named(ns, "s"), Status: aimv1alpha1.AIMServiceStatus{Status: state}}
	}
	// when lets somebody act once the service is in a state.
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
		off      without
		service  *aimv1alpha1.AIMService
		given    []client.Object
		standIn  func() reconciletest.StandIn // a new one for each run
		scenario reconciletest.Scenario
	}{
		"Apply": {
			reason: "children are written", off: without{apply: true}, service: routedTo(serviceOf(ns, "s", "m"), "/s"),
			given: []client.Object{readyModel(ns, "m"), readyTemplate(ns, "t", "m")},
			scenario: reconciletest.Scenario{Expect: []client.Object{is("Running"),
				&kserve.InferenceService{ObjectMeta: named(ns, names.InferenceService())}, &gatewayv1.HTTPRoute{ObjectMeta: named(ns, names.Route())}}},
		},
		"Prune": {
			reason: "children that are wanted no longer go", off: without{prune: true}, service: routedTo(serviceOf(ns, "s", "m"), "/s"),
			given: []client.Object{readyModel(ns, "m"), readyTemplate(ns, "t", "m")},
			standIn: func() reconciletest.StandIn {
				return when("Running", func(ctx context.Context, c client.Client, s *aimv1alpha1.AIMService) error {
					if !*s.Spec.Routing.Enabled {
						return nil
					}
					s.Spec.Routing.Enabled = to(false)
					return c.Update(ctx, s)
				})
			},
			scenario: reconciletest.Scenario{Expect: []client.Object{is("Running")}, Gone: []client.Object{&gatewayv1.HTTPRoute{ObjectMeta: named(ns, names.Route())}}},
		},
		"Tracker": {
			reason: "what was looked for wakes the service when it comes", off: without{tracker: true}, service: serviceOf(ns, "s", "m"),
			given: []client.Object{readyModel(ns, "m")},
			standIn: func() reconciletest.StandIn {
				seen := ""
				return when("Pending", func(ctx context.Context, c client.Client, s *aimv1alpha1.AIMService) error {
					if s.ResourceVersion != seen { // the operator is still at work on it
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
			run := func(off without) string {
				scenario := tc.scenario
				scenario.System = reconciletest.System{
					Setup: off.setup, Scheme: known, CRDPaths: []string{"../config/crd", "../config/kserve"},
					Given: tc.given, Owners: []client.Object{tc.service}, StandIns: []reconciletest.StandIn{ready.Everything},
				}
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
