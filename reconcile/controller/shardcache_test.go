package controller_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// TestCacheOptionsOfShards checks that an informer lists one shard only if all declarations of the kind use the same shard.
func TestCacheOptionsOfShards(t *testing.T) {
	t.Parallel()
	first, second := &controller.Shard{Name: "0", Count: 2}, &controller.Shard{Name: "1", Count: 2}
	shared := func(shard *controller.Shard, reads ...client.Object) *controller.Controller {
		b := controller.New("shared", &probe{}).Options(controller.Options{Shard: shard})
		for _, kind := range reads {
			b.Reads(kind)
		}
		return b.Build()
	}
	for name, tc := range map[string]struct {
		controllers []*controller.Controller
		parts       bool
	}{
		"NoShard":      {controllers: []*controller.Controller{shared(nil)}},
		"OneShard":     {controllers: []*controller.Controller{shared(first)}, parts: true},
		"SameShard":    {controllers: []*controller.Controller{shared(first), shared(first)}, parts: true},
		"OtherShard":   {controllers: []*controller.Controller{shared(first), shared(second)}},
		"ReadByItself": {controllers: []*controller.Controller{shared(first, &widget.Widget{})}},
		"ReadByOther":  {controllers: []*controller.Controller{shared(first), controller.NewSingleton("all", shelf{}).Reads(&widget.Widget{}).Build()}},
		"OwnedByOther": {controllers: []*controller.Controller{controller.NewSingleton("all", shelf{}).Owns(&widget.Widget{}).Build(), shared(first)}},
	} {
		if _, err := controller.CacheOptions(testScheme(t), tc.controllers...); err != nil {
			t.Fatal(err)
		}
		for _, c := range tc.controllers {
			if c.WatchesPart() != tc.parts {
				t.Errorf("%s: an informer asks for a part: %t, want %t", name, !tc.parts, tc.parts)
			}
		}
	}
}
