package pipeline_test

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	ownerstatus "github.com/reconcilekit/reconcilekit/reconcile/internal/status"
)

// loose is an unstructured owner. Its metadata is in a map, which a shallow copy shares.
type loose struct{ unstructured.Unstructured }

// sharing is a reader that records whether a read may share the object with the cache.
type sharing struct {
	client.Reader
	shares bool
}

func (s *sharing) Get(_ context.Context, key client.ObjectKey, _ client.Object, opts ...client.GetOption) error {
	var options client.GetOptions
	options.ApplyOptions(opts)
	s.shares = options.UnsafeDisableDeepCopy != nil && *options.UnsafeDisableDeepCopy
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func ownerIsShared[T reconcile.Owner](t *testing.T, reconciler reconcile.Reconciler[T, fetched, observation]) bool {
	t.Helper()
	reader := &sharing{}
	loop, err := pipeline.New(reconciler, pipeline.Config{
		Name: "owners", Reader: reader, Applier: &engine.Engine{}, StatusWriter: &ownerstatus.Writer{},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loop.Reconcile(t.Context(), ctrl.Request{}); err != nil {
		t.Fatal(err)
	}
	return reader.shares
}

// anything is a Reconciler that is never called.
type anything[T reconcile.Owner] struct {
	reconcile.Reconciler[T, fetched, observation]
	reconcile.Composer[T, fetched, observation]
}

// TestOwnerRead checks that a change of the owner's metadata by the pipeline does not change the cached object.
func TestOwnerRead(t *testing.T) {
	t.Parallel()
	if !ownerIsShared(t, anything[*widget.Widget]{}) {
		t.Error("a typed owner is copied, although its fields are replaced only")
	}
	if ownerIsShared(t, anything[*loose]{}) {
		t.Error("an unstructured owner is shared with the cache")
	}
}
