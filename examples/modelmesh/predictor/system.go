package predictor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/etcd"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
)

// served is the state of a vmodel in ModelMesh.
type served struct {
	// NoInstances means that no pod of ModelMesh runs, so that the state is unknown.
	NoInstances bool         `json:"noInstances,omitempty"`
	VModel      mmesh.VModel `json:"vmodel,omitzero"`
}

// mesh implements external.System for vmodels. A key is namespace/name.
type mesh struct {
	Mesh

	source string
}

var (
	_ external.System[mmesh.SetRequest, served] = mesh{}
	_ external.Watcher                          = mesh{}
)

// Mesh contains the access to ModelMesh.
type Mesh struct {
	// Call calls the ModelMesh of a namespace.
	Call Caller
	// Events delivers events of vmodels. Nil delivers none.
	Events *etcd.Events
	// Gone returns the reason why the ModelMesh of a namespace no longer exists, or the empty string if it may exist. If Gone is nil,
	// every ModelMesh may exist.
	Gone func(ctx context.Context, namespace string) (reason string, err error)
}

// Caller calls the ModelMesh of a namespace.
type Caller func(ctx context.Context, namespace string, call func(context.Context, mmesh.Client) error) error

// VModels are the vmodels of one source.
type VModels = external.Kind[mmesh.SetRequest, served]

func newVModels(m Mesh, source string) *VModels {
	return external.New("VModel", mesh{m, source}, external.Options{Classify: classify, Permit: permit, Exclusive: true, System: namespaceOf})
}

func keyOf(owner types.NamespacedName) string { return owner.Namespace + "/" + owner.Name }

func namespaceOf(key string) string {
	namespace, _, _ := strings.Cut(key, "/")
	return namespace
}

func nameOf(key string) string {
	_, name, _ := strings.Cut(key, "/")
	return name
}

// permit allows an owner only the vmodel of its own name.
func permit(owner types.NamespacedName, key string) error {
	if want := keyOf(owner); key != want {
		return fmt.Errorf("vmodel %q: want that of its owner, %q", key, want)
	}
	return nil
}

func classify(err error) (category health.Category, reason string) {
	switch status.Code(err) {
	case codes.AlreadyExists:
		return health.Conflict, "OwnedByAnotherSource"
	case codes.Unavailable, codes.DeadlineExceeded:
		return health.Infrastructure, "ModelMeshUnavailable"
	case codes.Unauthenticated, codes.PermissionDenied:
		return health.Auth, "ModelMeshRefused"
	}
	return health.Unknown, "ModelMeshFailed"
}

// ask makes a call that returns the state of a vmodel. If no pod of ModelMesh runs, ask returns a state and no error.
func (m mesh) ask(
	ctx context.Context, key string, call func(context.Context, mmesh.Client) (*mmesh.VModel, error),
) (found served, err error) {
	err = m.Call(ctx, namespaceOf(key), func(ctx context.Context, c mmesh.Client) error {
		state, err := call(ctx, c)
		if err == nil {
			found.VModel = *state
		}
		return err
	})
	if errors.Is(err, mmesh.ErrNoInstances) {
		return served{NoInstances: true}, nil
	}
	return found, err
}

// Observe implements external.System.
func (m mesh) Observe(ctx context.Context, key string) (found served, err error) {
	found, err = m.ask(ctx, key, func(ctx context.Context, c mmesh.Client) (*mmesh.VModel, error) {
		return c.Get(ctx, mmesh.Reference{ID: nameOf(key), Owner: m.source})
	})
	if err == nil && !found.NoInstances && found.VModel.State == mmesh.VModelNotFound {
		return served{}, external.ErrNotFound
	}
	return found, err
}

// Ensure implements external.System.
func (m mesh) Ensure(ctx context.Context, key string, request mmesh.SetRequest) (served, error) {
	return m.ask(ctx, key, func(ctx context.Context, c mmesh.Client) (*mmesh.VModel, error) { return c.Set(ctx, &request) })
}

// Watch implements external.Watcher.
func (m mesh) Watch(ctx context.Context, opened func(), changed func(key string)) error {
	return m.Events.Watch(ctx, opened, func(e etcd.Event) {
		if e.Source == "" || e.Source == m.source {
			changed(e.Namespace + "/" + e.Name)
		}
	})
}

// Remove implements external.System. The vmodels of a namespace are deleted with its ModelMesh.
func (m mesh) Remove(ctx context.Context, key string) error {
	if m.Gone != nil {
		if reason, err := m.Gone(ctx, namespaceOf(key)); err != nil {
			return err
		} else if reason != "" {
			return fmt.Errorf("%w: %s", external.ErrSystemGone, reason)
		}
	}
	return m.Call(ctx, namespaceOf(key), func(ctx context.Context, c mmesh.Client) error {
		return c.Remove(ctx, mmesh.Reference{ID: nameOf(key), Owner: m.source})
	})
}

// UpToDate implements external.System. It reports whether the vmodel has the model of the spec as its target, and the model is
// loaded or loading if it must be.
func (mesh) UpToDate(request mmesh.SetRequest, observed served) bool {
	v := &observed.VModel
	if observed.NoInstances || v.Target != request.Target {
		return false
	}
	model := v.TargetModel
	if v.Active == v.Target {
		model = v.ActiveModel
	}
	return !request.LoadNow || model != nil && model.State != mmesh.NotLoaded && model.State != mmesh.NotFound
}
