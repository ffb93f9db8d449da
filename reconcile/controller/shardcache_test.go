package controller_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// TestCacheOptionsOfShards: informers ask for a part only where everybody who uses the kind wants the same.
func TestCacheOptionsOfShards(t *testing.T) {
	t.Parallel()
	first, second := &controller.Shard{Name: "0", Count: 2}, &controller.Shard{Name: "1", Count: 2}
	shared := func(shard *controller.Shard) *controller.Builder[*widget.Widget, world, world] {
		return controller.New("shared", &probe{}).Options(controller.Options{Shard: shard})
	}
	for name, tc := range map[string]struct {
		controllers []controller.Declared
		parts       bool
	}{
		"NoShard":      {controllers: []controller.Declared{shared(nil)}},
		"OneShard":     {controllers: []controller.Declared{shared(first)}, parts: true},
		"SameShard":    {controllers: []controller.Declared{shared(first), shared(first)}, parts: true},
		"OtherShard":   {controllers: []controller.Declared{shared(first), shared(second)}},
		"Function":     {controllers: []controller.Declared{shared(&controller.Shard{Name: "a", Of: client.Object.GetNamespace})}},
		"ReadByItself": {controllers: []controller.Declared{shared(first).Reads(&widget.Widget{})}},
		"ReadByOther":  {controllers: []controller.Declared{shared(first), controller.NewSingleton("all", shelf{}).Reads(&widget.Widget{})}},
		"OwnedByOther": {controllers: []controller.Declared{controller.NewSingleton("all", shelf{}).Owns(&widget.Widget{}), shared(first)}},
	} {
		if _, err := controller.CacheOptions(testScheme(t), tc.controllers...); err != nil {
			t.Fatal(err)
		}
		for _, c := range tc.controllers {
			sharing, ok := c.(*controller.Builder[*widget.Widget, world, world])
			if ok && sharing.WatchesPart() != tc.parts {
				t.Errorf("%s: an informer asks for a part: %t, want %t", name, !tc.parts, tc.parts)
			}
		}
	}
}
