package controller

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// running is a fake manager that records added runnables.
type running struct {
	manager.Manager
	added []manager.Runnable
}

func (r *running) Add(added manager.Runnable) error {
	r.added = append(r.added, added)
	return nil
}

// TestClaim checks that two controllers of the same owner kind in a manager cannot use the same names until the manager ends.
func TestClaim(t *testing.T) {
	t.Parallel()
	shop, bank := schema.GroupKind{Kind: "Shop"}, schema.GroupKind{Kind: "Bank"}
	first, second := &running{}, &running{}
	claim := func(mgr manager.Manager, kind schema.GroupKind, controller string, options apply.Options, want string) {
		t.Helper()
		err := namesOf(controller, options).Claim(mgr, kind)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("controller %q: got %v, want %q", controller, err, want)
		}
	}
	claim(first, shop, "a", apply.Options{}, "")
	claim(first, shop, "b", apply.Options{FieldManager: "a"}, `FieldManager "a" is that of controller "a", which reconciles Shop, too`)
	claim(first, shop, "b", apply.Options{Finalizer: "reconcilekit.dev/a"}, `Finalizer "reconcilekit.dev/a" is that of controller "a"`)
	claim(first, shop, "b", apply.Options{}, "")
	claim(first, bank, "c", apply.Options{FieldManager: "a"}, "")
	claim(second, shop, "d", apply.Options{FieldManager: "a"}, "")
	ended, end := context.WithCancel(t.Context())
	end()
	for _, added := range first.added {
		if err := added.Start(ended); err != nil {
			t.Fatal(err)
		}
	}
	claim(first, shop, "e", apply.Options{FieldManager: "a"}, "")
	claim(second, shop, "e", apply.Options{FieldManager: "a"}, `is that of controller "d"`)
}
