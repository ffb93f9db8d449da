package observe

import (
	"context"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// TestCachesWhileSetUp reads metrics and readiness while sources are added, for the race detector.
func TestCachesWhileSetUp(t *testing.T) {
	t.Parallel()
	c := &Caches{Failed: &ListFailures{}}
	var asked sync.WaitGroup
	asked.Go(func() {
		for range 100 {
			_, _ = c.byKind(), c.check(nil)
		}
	})
	for range 100 {
		c.note(&syncing{kind: "ConfigMap", name: "ConfigMap", listed: func() bool { return true }})
	}
	asked.Wait()
	if got := c.byKind()["ConfigMap"]; got != 1 {
		t.Errorf("got %v, want 1", got)
	}
}

// counted is a cache that counts the requested informers.
type counted struct {
	cache.Cache

	asked int
}

// GetInformer implements cache.Cache.
func (c *counted) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	c.asked++
	return synced{}, nil
}

// synced is a fake informer that is synced.
type synced struct{ cache.Informer }

// HasSynced implements cache.Informer.
func (synced) HasSynced() bool { return true }

// started is a source without events.
type started struct{ source.SyncingSource }

// Start implements source.Source.
func (started) Start(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	return nil
}

// TestProbeBeforeStart checks that probes and scrapes add no informer to a cache that the manager still waits for.
func TestProbeBeforeStart(t *testing.T) {
	t.Parallel()
	cached, c := &counted{}, &Caches{Failed: &ListFailures{}}
	kind := &declaration.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Object: &corev1.ConfigMap{}}
	watched := c.Watch(cached, kind, started{})

	if err := c.check(nil); err == nil || !strings.Contains(err.Error(), "/v1/ConfigMap") {
		t.Errorf("got %v, want an error that names the kind", err)
	}
	if got := c.byKind()["ConfigMap"]; got != 0 || cached.asked != 0 {
		t.Errorf("before the start: got %v after %d informers, want 0 after none", got, cached.asked)
	}
	if err := watched.Start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := c.byKind()["ConfigMap"]; got != 1 || cached.asked != 1 {
			t.Errorf("after the start: got %v after %d informers, want 1 after one", got, cached.asked)
		}
	}
}
