package operator_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// without is what an operator has to do without: children are not written, nothing is deleted, or no read has a watch.
type without struct{ apply, prune, tracker bool }

// deafManager gives out a client and a cache that do without something. Owners are the kind that the controllers are for.
type deafManager struct {
	manager.Manager
	without
	owners string
}

func (m deafManager) GetClient() client.Client { return deafClient{m.Manager.GetClient(), m.without} }
func (m deafManager) GetCache() cache.Cache    { return deafCache{m.Manager.GetCache(), m} }

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
	if kind, err := c.GroupVersionKindFor(object); err == nil && kind.Group != "maas.opendatahub.io" && c.apply {
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

// deafCache answers reads, but without the tracker tells of changes of the owners alone.
type deafCache struct {
	cache.Cache
	manager deafManager
}

func (c deafCache) GetInformer(ctx context.Context, object client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	informer, err := c.Cache.GetInformer(ctx, object, opts...)
	if kind, kindErr := apiutil.GVKForObject(object, c.manager.GetScheme()); kindErr == nil && c.manager.tracker && kind.Kind != c.manager.owners {
		return deafInformer{informer}, err
	}
	return informer, err
}

// deafInformer calls no handler.
type deafInformer struct{ cache.Informer }

func (i deafInformer) AddEventHandler(toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{})
}

func (i deafInformer) AddEventHandlerWithOptions(
	_ toolscache.ResourceEventHandler, options toolscache.HandlerOptions,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandlerWithOptions(toolscache.ResourceEventHandlerFuncs{}, options)
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

// action is what somebody else does to an object of the product, or because of it.
type action func(ctx context.Context, c client.Client, o *unstructured.Unstructured) error

// once lets somebody act one time when a pass has found the object of the kind in the phase, or so many passes later: its
// controller has had its say then.
func once(kind, name, phase string, later int, act action) func() reconciletest.StandIn {
	namespace := "default"
	if kind == "Tenant" {
		namespace = config.SubscriptionNamespace
	}
	return func() reconciletest.StandIn {
		looks := 0
		return func(ctx context.Context, c client.Client) error {
			o := backend.Kind(schema.GroupVersionKind{Group: "maas.opendatahub.io", Version: "v1alpha1", Kind: kind})
			if err := c.Get(ctx, backend.Key(namespace, name), o); err != nil {
				return client.IgnoreNotFound(err)
			}
			if now, _, _ := unstructured.NestedString(o.Object, "status", "phase"); now != phase {
				return nil
			}
			if looks++; looks != later+1 {
				return nil
			}
			return act(ctx, c, o)
		}
	}
}

// set changes a field of the object.
func set(value any, fields ...string) action {
	return func(ctx context.Context, c client.Client, o *unstructured.Unstructured) error {
		if err := unstructured.SetNestedField(o.Object, value, fields...); err != nil {
			return err
		}
		return c.Update(ctx, o)
	}
}

// TestSDKIsNeeded: what the example shows rests on the SDK. The same expectations hold with all of it, and each does
// not hold once its part is off.
func TestSDKIsNeeded(t *testing.T) {
	t.Parallel()
	for name, tc := range sdkCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := func(off without) string {
				s := tc.system(t)
				setup := s.Setup
				s.Setup = func(mgr manager.Manager) error { return setup(deafManager{mgr, off, tc.owners}) }
				if tc.meanwhile != nil {
					s.StandIns = append(s.StandIns, tc.meanwhile())
				}
				return (&verdict{TB: t}).of(reconciletest.Scenario{System: s, ExpectYAML: tc.expect, Gone: tc.gone})
			}
			if wrong := run(without{}); wrong != "" {
				t.Errorf("with the whole SDK: %s", wrong)
			}
			wrong := run(tc.off)
			if wrong == "" {
				t.Errorf("holds without %+v", tc.off)
			}
			t.Logf("without: %s", wrong)
		})
	}
}
