package engine_test

import (
	"context"
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

func fiveChildren() []client.Object {
	all := everydayKinds()
	var out []client.Object
	for _, o := range all {
		switch o.(type) {
		case *appsv1.Deployment, *corev1.Service, *corev1.ConfigMap, *corev1.Secret, *corev1.ServiceAccount:
			out = append(out, o)
		}
	}
	return out
}

// BenchmarkSteadyPass compares a reconciliation of five unchanged children with the cached
// reads alone, and with building the objects.
func BenchmarkSteadyPass(b *testing.B) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		b.Skip("KUBEBUILDER_ASSETS is not set; run make assets")
	}
	env, cfg, err := startEnvironment()
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = env.Stop() }()
	ctx := b.Context()
	counted := &recorded{}
	c, live := benchClients(ctx, b, cfg, counted)
	owner := &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "bench", Namespace: "default"}}
	if err := live.Create(ctx, owner); err != nil {
		b.Fatal(err)
	}
	engine, err := engine.New(c, live, apply.Options{FieldManager: manager})
	if err != nil {
		b.Fatal(err)
	}
	plan := planOf(fiveChildren)
	for quiet := 0; quiet < 3; {
		counted.take()
		if err := engine.Apply(ctx, owner, plan()).Err(); err != nil {
			b.Fatal(err)
		}
		if quiet++; len(counted.take()) > 0 {
			quiet = 0
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.Run("reads", func(b *testing.B) {
		objects := fiveChildren()
		b.ReportAllocs()
		for b.Loop() {
			for _, o := range objects {
				key := client.ObjectKey{Namespace: "default", Name: o.GetName()}
				if err := c.Get(ctx, key, o); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("plan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			plan()
		}
	})
	b.Run("apply", func(b *testing.B) {
		set := plan()
		b.ReportAllocs()
		for b.Loop() {
			if err := engine.Apply(ctx, owner, set).Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
	if sent := counted.take(); len(sent) > 0 {
		b.Fatalf("steady passes sent %v", sent)
	}
}

func benchClients(ctx context.Context, b *testing.B, cfg *rest.Config, counted *recorded) (cached, live client.Client) {
	b.Helper()
	store, err := cache.New(cfg, cache.Options{Scheme: scheme})
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = store.Start(ctx) }()
	wrapped := rest.CopyConfig(cfg)
	wrapped.Wrap(counted.wrap)
	if cached, err = client.New(wrapped, client.Options{Scheme: scheme, Cache: &client.CacheOptions{Reader: store}}); err != nil {
		b.Fatal(err)
	}
	if live, err = client.New(wrapped, client.Options{Scheme: scheme}); err != nil {
		b.Fatal(err)
	}
	return cached, live
}
