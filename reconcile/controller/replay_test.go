package controller_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/record"
)

var gadgetKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}

// asking tells a missing kind from a missing object.
type asking struct {
	idle
	absent *bool
}

func (a asking) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*widget.Widget],
) int {
	gadget := &unstructured.Unstructured{}
	gadget.SetGroupVersionKind(gadgetKind)
	var absent *controller.AbsentError
	err := r.Get(ctx, client.ObjectKeyFromObject(rc.Object), gadget)
	*a.absent = errors.As(err, &absent) && absent.GVK == gadgetKind && absent.Name == "web"
	return 0
}

// A replay answers with the typed error of a kind that was not installed.
func TestReplayKnowsAbsentKinds(t *testing.T) {
	t.Parallel()
	r, err := record.Decode(strings.NewReader(`{
		"version": 1, "controller": "asking", "request": {"name": "web"}, "now": "2026-01-02T03:04:05Z",
		"owner": {"metadata": {"name": "web"}}, "plan": {}, "outcome": {},
		"reads": [{"verb": "get", "kind": "example.com/v1/Gadget", "as": "unstructured", "name": "web", "error": {
			"message": "example.com/v1/Gadget \"web\" not found: the kind is not installed in the cluster",
			"type": "*controller.AbsentError",
			"status": {"status": "Failure", "code": 404, "reason": "NotFound", "details": {"group": "example.com", "kind": "Gadget", "name": "web"}}
		}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var absent bool
	out, err := controller.New("asking", asking{absent: &absent}).Replay(t.Context(), testScheme(t), r)
	if err != nil {
		t.Fatal(err)
	}
	if !absent {
		t.Error("want the phase to find an AbsentError with the kind and the name")
	}
	if got := out.Reads[0].Error; got.Type != r.Reads[0].Error.Type || got.Message != r.Reads[0].Error.Message {
		t.Errorf("want the error to be written down as before, got %+v", got)
	}
}
