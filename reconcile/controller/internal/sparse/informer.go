package sparse

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/reconcilekit/reconcilekit/reconcile"
)

// Informer is the informer of a sparsely kept kind. It accepts handlers and indexes of controllers with a [Link]. Other handlers would
// mistake a reduced object for one without content, so with them it keeps all objects in full.
type Informer struct {
	toolscache.SharedIndexInformer

	kind        schema.GroupVersionKind
	controllers []string // names of the controllers whose objects ours reports
	ours        func(metav1.Object) bool
	view        toolscache.Indexer

	transform atomic.Pointer[toolscache.TransformFunc] // of the cache
	all       atomic.Bool                              // all objects are kept in full
	started   atomic.Bool

	mu         sync.Mutex
	links      []*Link
	namespaces map[string]string // deduplicated namespaces
	kept       map[string]kept   // objects that the links need, by the key of the store
	singles    map[string]bool   // objects with a handler of their own, by the key of the store
	turns      sync.Map          // key to a channel that closes when the live read ends
}

// kept is an object that is kept in full.
type kept struct {
	metav1.Object

	gone bool // the API server no longer has an object of that UID
}

// Ours identifies the objects of controllers.
type Ours struct {
	// Controllers are the names of the controllers.
	Controllers []string
	// Has reports whether an object may belong to one of them.
	Has func(metav1.Object) bool
}

// NewInformer returns an informer that keeps the objects of controllers and the needed objects in full.
func NewInformer(
	watched toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers,
	kind schema.GroupVersionKind, ours Ours,
) *Informer {
	i := &Informer{kind: kind, controllers: ours.Controllers, ours: ours.Has, kept: map[string]kept{}, singles: map[string]bool{}, namespaces: map[string]string{}}
	i.SharedIndexInformer = toolscache.NewSharedIndexInformer(watched, example, resync, i.guarded(indexers))
	i.view = &view{i.SharedIndexInformer.GetIndexer(), i}
	_ = i.SharedIndexInformer.SetTransform(i.reduce) // fails only after the start
	return i
}

// Run runs the informer.
func (i *Informer) Run(stop <-chan struct{}) {
	i.started.Store(true)
	i.SharedIndexInformer.Run(stop)
}

// RunWithContext runs the informer.
func (i *Informer) RunWithContext(ctx context.Context) {
	i.started.Store(true)
	i.SharedIndexInformer.RunWithContext(ctx)
}

// GetIndexer returns the store together with the objects that are kept in full.
func (i *Informer) GetIndexer() toolscache.Indexer { return i.view }

// GetStore returns the same as GetIndexer.
func (i *Informer) GetStore() toolscache.Store { return i.view }

// AddIndexers adds indexes. The function of ChildIndex reads only metadata.
func (i *Informer) AddIndexers(indexers toolscache.Indexers) error {
	for name := range indexers {
		if name == toolscache.NamespaceIndex || name == "field:"+reconcile.ChildIndex {
			continue
		}
		if err := i.keepAll("an index by " + strings.TrimPrefix(name, "field:")); err != nil {
			return err
		}
	}
	return i.SharedIndexInformer.AddIndexers(i.guarded(indexers))
}

// guarded returns the indexes with functions that accept stored metadata.
func (i *Informer) guarded(indexers toolscache.Indexers) toolscache.Indexers {
	out := make(toolscache.Indexers, len(indexers))
	for name, index := range indexers {
		out[name] = func(object any) ([]string, error) {
			if m, ok := object.(*metadataOnly); ok {
				object = m.partial(i.kind)
			}
			return index(object)
		}
	}
	return out
}

// keepAll keeps all objects in full from the start, for a consumer that needs them.
func (i *Informer) keepAll(one string) error {
	if !i.started.Load() {
		i.all.Store(true)
	}
	if i.all.Load() {
		return nil
	}
	return fmt.Errorf("add %s to the cache of %s: it is running and keeps only the metadata of objects of others, "+
		"because all controllers that declare the kind can do with that: declare it with controller.Whole in one of them", one, i.kind)
}

func keyOf(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}
