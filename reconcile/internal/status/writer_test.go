package status_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/status"
)

func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	c := fake.NewClientBuilder().Build()
	if _, err := status.New(nil, c, status.Options{FieldManager: "x"}); err == nil {
		t.Error("no client: want an error")
	}
	if _, err := status.New(c, nil, status.Options{FieldManager: "x"}); err == nil {
		t.Error("no live reader: want an error")
	}
	if _, err := status.New(c, c, status.Options{}); err == nil {
		t.Error("no field manager: want an error")
	}
	if _, err := status.New(c, c, status.Options{FieldManager: "x"}); err != nil {
		t.Error(err)
	}
}
