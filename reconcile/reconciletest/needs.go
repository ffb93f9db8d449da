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

// Without reports which parts of the SDK an operator has to do without, see [Needs]. At least one is set.
type Without struct {
	// Apply is the writing of children: a create or patch of an object of any kind but those of System.Owners is
	// acknowledged and not sent.
	Apply bool
	// Prune is the deletion of children: every deletion is acknowledged and not sent.
	Prune bool
	// Tracker is the waking by what was read: the operator is not told of an object, unless it is of a kind of System.Owners
	// or has a controller, which leads to the owner without it.
	Tracker bool
}

var errNothingOff = errors.New("needs: nothing is set: want the part of the SDK that the operator has to do without")

// Needs fails the test unless the scenario holds, and does not hold once the operator has to do without a part of the SDK:
// what an example claims to rest on must be what it rests on. The function is called for each of the two runs, as stand-ins
// may remember what they have done.
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

// without is the system with an operator that has to do without a part of the SDK.
func without(s System, part Without) System {
	setup := s.Setup
	if setup == nil {
		return s // refused when it runs
	}
	if part.Tracker {
		s.Cache.NewInformer = nil // one that keeps what the handlers of controllers need refuses those that stand before them
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

// poorManager gives out a client and a cache that do without a part.
type poorManager struct {
	*run.TestManager
	part   Without
	owners []schema.GroupKind
}

func (m poorManager) GetClient() client.Client { return poorClient{m.TestManager.GetClient(), m} }
func (m poorManager) GetCache() cache.Cache    { return poorCache{m.TestManager.GetCache(), m} }

// owns reports whether an object is of a kind that the controllers are for.
func (m poorManager) owns(object runtime.Object) bool {
	gvk, err := apiutil.GVKForObject(object, m.GetScheme())
	return err == nil && slices.Contains(m.owners, gvk.GroupKind())
}

// poorClient acknowledges what it does not send.
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

// poorCache answers reads, and keeps the events of what nobody owns to itself.
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

// poorInformer tells of objects that have a controller.
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
