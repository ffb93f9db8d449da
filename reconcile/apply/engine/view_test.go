package engine_test

import (
	"context"
	"maps"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

// view is a cached client that can hide one kind of objects, or return the first version of each object. Its
// writes are sent to the API server.
type view struct {
	client.Client

	mu     sync.Mutex
	kind   string
	hidden bool
	frozen bool
	first  map[client.ObjectKey]client.Object
}

func (v *view) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	gvk, err := v.GroupVersionKindFor(into)
	if err != nil || gvk.Kind != v.kind {
		return v.Client.Get(ctx, key, into, opts...)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.hidden {
		return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
	}
	if old := v.first[key]; v.frozen && old != nil {
		return scheme.Convert(old, into, nil)
	}
	if err := v.Client.Get(ctx, key, into, opts...); err != nil || !v.frozen {
		return err
	}
	seen, ok := into.DeepCopyObject().(client.Object)
	if ok {
		v.first[key] = seen
	}
	return nil
}

// show sets what the view hides.
func (v *view) show(hidden, frozen bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hidden, v.frozen = hidden, frozen
	clear(v.first)
}

// through restarts the engine, like a new leader, with a view of one kind.
func (w *world) through(kind string) *view {
	GinkgoHelper()
	v := &view{Client: w.client, kind: kind, first: map[client.ObjectKey]client.Object{}}
	counted := rest.CopyConfig(config)
	counted.Wrap(w.requests.wrap)
	live, err := client.New(counted, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	w.engine, err = engine.New(v, live, w.options)
	Expect(err).NotTo(HaveOccurred())
	return v
}

// meanwhile calls a function once, immediately before the next write of the engine is sent.
func (w *world) meanwhile(do func()) {
	w.requests.mu.Lock()
	defer w.requests.mu.Unlock()
	w.requests.fail = onFirstWrite(do)
}

func merged(ms ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range ms {
		maps.Copy(out, m)
	}
	return out
}
