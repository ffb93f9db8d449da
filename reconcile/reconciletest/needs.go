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

var errNothingOff = errors.New("needs: nothing is set: want the part of the SDK that the operator has to do without")

// Needs fails the test unless the scenario passes, and fails with a part of the SDK disabled. It proves that an example depends on that
// part. scenario is called for each of the two runs, because stand-ins may have state.
func Needs(t testing.TB, part Without, scenario func() Scenario) {
	t.Helper()
	if part == (Without{}) {
		t.Fatal(errNothingOff)
	}
	wrong, err := scenario().findings(t)
	if err != nil {
		t.Errorf("with the whole SDK: %v", err)
	}
	for _, one := range wrong {
		t.Errorf("with the whole SDK: %s", one)
	}
	poor := scenario()
	poor.System = without(poor.System, part)
	wrong, err = poor.findings(t)
	if len(wrong) == 0 {
		t.Errorf("holds without %+v", part)
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
			return errors.New("needs: not the manager of a test")
		}
		p := poorManager{TestManager: whole, part: part}
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

// poorManager provides a client and a cache with a part disabled.
type poorManager struct {
	*run.TestManager
	part   Without
	owners []schema.GroupKind
}

func (m poorManager) GetClient() client.Client { return poorClient{m.TestManager.GetClient(), m} }
func (m poorManager) GetCache() cache.Cache    { return poorCache{m.TestManager.GetCache(), m} }

// owns reports whether the controllers reconcile the kind of an object.
func (m poorManager) owns(object runtime.Object) bool {
	gvk, err := apiutil.GVKForObject(object, m.GetScheme())
	return err == nil && slices.Contains(m.owners, gvk.GroupKind())
}

// poorClient acknowledges requests that it does not send.
type poorClient struct {
	client.Client
	manager poorManager
}

func (c poorClient) Create(ctx context.Context, object client.Object, opts ...client.CreateOption) error {
	if c.manager.part.Apply && !c.manager.owns(object) {
		return nil
	}
	return c.Client.Create(ctx, object, opts...)
}

func (c poorClient) Patch(ctx context.Context, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if c.manager.part.Apply && !c.manager.owns(object) {
		return nil
	}
	return c.Client.Patch(ctx, object, patch, opts...)
}

func (c poorClient) Delete(ctx context.Context, object client.Object, opts ...client.DeleteOption) error {
	if c.manager.part.Prune {
		return nil
	}
	return c.Client.Delete(ctx, object, opts...)
}

// poorCache answers reads, and drops the events of objects without a controller reference.
type poorCache struct {
	cache.Cache
	manager poorManager
}

func (c poorCache) GetInformer(ctx context.Context, object client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	informer, err := c.Cache.GetInformer(ctx, object, opts...)
	if err != nil || !c.manager.part.Tracker || c.manager.owns(object) {
		return informer, err
	}
	return poorInformer{informer}, nil
}

// poorInformer delivers only events of objects with a controller reference.
type poorInformer struct{ cache.Informer }

func (i poorInformer) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandler(ofControlled(handler))
}

func (i poorInformer) AddEventHandlerWithOptions(
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
