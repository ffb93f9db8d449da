package reconciletest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

// Without selects the parts of the SDK to disable, see [Needs]. At least one must be set.
type Without struct {
	// Apply disables writes of children: a create or patch of an object of any kind except those of System.Owners is acknowledged and not
	// sent.
	Apply bool
	// Prune disables deletions: every deletion is acknowledged and not sent.
	Prune bool
	// Tracker disables events for tracked reads: the operator receives only events about kinds of System.Owners and objects with a
	// controller reference.
	Tracker bool
}

var errNothingOff = errors.New("needs: want at least one part of the SDK to disable")

// Needs fails the test unless the scenario passes, and fails with a part of the SDK disabled. It proves that an example depends on that
// part. scenario is called for each of the two runs, because stand-ins may have state.
func Needs(t testing.TB, part Without, scenario func() Scenario) {
	t.Helper()
	if part == (Without{}) {
		t.Fatal(errNothingOff)
	}
	wrong, err := scenario().findings(t)
	if err != nil {
		t.Errorf("with the complete SDK: %v", err)
	}
	for _, one := range wrong {
		t.Errorf("with the complete SDK: %s", one)
	}
	limited := scenario()
	limited.System = without(limited.System, part)
	wrong, err = limited.findings(t)
	if len(wrong) == 0 {
		t.Errorf("the scenario passes without %+v", part)
	}
	t.Logf("without %+v: %v\n%s", part, err, strings.Join(wrong, "\n"))
}

// without returns the system with a part of the SDK disabled.
func without(s System, part Without) System {
	setup := s.Setup
	if setup == nil {
		return s // rejected when it runs
	}
	if part.Tracker {
		s.Cache.NewInformer = nil // such informers reject the wrapped event handlers
	}
	s.Setup = func(mgr manager.Manager) error {
		whole, ok := mgr.(*run.TestManager)
		if !ok {
			return errors.New("needs: the manager is not one of reconciletest")
		}
		p := limitedManager{TestManager: whole, part: part}
		for _, owner := range s.Owners {
			gvk, err := apiutil.GVKForObject(owner, whole.GetScheme())
			if err != nil {
				return err
			}
			p.owners = append(p.owners, gvk.GroupKind())
		}
		return setup(p)
	}
	return s
}

// limitedManager provides a client and a cache with a part disabled.
type limitedManager struct {
	*run.TestManager
	part   Without
	owners []schema.GroupKind
}

func (m limitedManager) GetClient() client.Client { return limitedClient{m.TestManager.GetClient(), m} }
func (m limitedManager) GetCache() cache.Cache    { return limitedCache{m.TestManager.GetCache(), m} }

// owns reports whether the controllers reconcile the kind of an object.
func (m limitedManager) owns(object runtime.Object) bool {
	gvk, err := apiutil.GVKForObject(object, m.GetScheme())
	return err == nil && slices.Contains(m.owners, gvk.GroupKind())
}

// limitedClient acknowledges requests that it does not send.
type limitedClient struct {
	client.Client
	manager limitedManager
}

func (c limitedClient) Create(ctx context.Context, object client.Object, opts ...client.CreateOption) error {
	if c.manager.part.Apply && !c.manager.owns(object) {
		return nil
	}
	return c.Client.Create(ctx, object, opts...)
}

func (c limitedClient) Patch(ctx context.Context, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if c.manager.part.Apply && !c.manager.owns(object) {
		return nil
	}
	return c.Client.Patch(ctx, object, patch, opts...)
}

func (c limitedClient) Delete(ctx context.Context, object client.Object, opts ...client.DeleteOption) error {
	if c.manager.part.Prune {
		return nil
	}
	return c.Client.Delete(ctx, object, opts...)
}

// limitedCache answers reads, and drops the events of objects without a controller reference.
type limitedCache struct {
	cache.Cache
	manager limitedManager
}

func (c limitedCache) GetInformer(ctx context.Context, object client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	informer, err := c.Cache.GetInformer(ctx, object, opts...)
	if err != nil || !c.manager.part.Tracker || c.manager.owns(object) {
		return informer, err
	}
	return limitedInformer{informer}, nil
}

// limitedInformer delivers only events of objects with a controller reference.
type limitedInformer struct{ cache.Informer }

func (i limitedInformer) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandler(ofControlled(handler))
}

func (i limitedInformer) AddEventHandlerWithOptions(
	handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandlerWithOptions(ofControlled(handler), options)
}

func ofControlled(handler toolscache.ResourceEventHandler) toolscache.ResourceEventHandler {
	return toolscache.FilteringResourceEventHandler{Handler: handler, FilterFunc: func(object any) bool {
		if gone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		o, ok := object.(metav1.Object)
		return ok && metav1.GetControllerOfNoCopy(o) != nil
	}}
}
