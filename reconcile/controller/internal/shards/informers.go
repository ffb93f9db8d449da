package shards

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize is the page size of a list of all objects.
const pageSize = 500

// Informers are the informers of one kind in a cache, one for each watched namespace. They list and watch a selection. It is safe for
// concurrent use.
type Informers struct {
	selection Selection

	mu      sync.Mutex
	sources []toolscache.ListerWatcherWithContext
}

// NewInformers returns an empty set of informers for a selection.
func NewInformers(selection Selection) *Informers { return &Informers{selection: selection} }

// Add adds an informer, and returns a ListerWatcher that is restricted to the selection.
func (i *Informers) Add(all toolscache.ListerWatcher) toolscache.ListerWatcher {
	source := toolscache.ToListerWatcherWithContext(all)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.sources = append(i.sources, source)
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			i.selection.mine(&options)
			return source.ListWithContext(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			i.selection.mine(&options)
			return source.WatchWithContext(ctx, options)
		},
	}
}

// All calls do with each object in the namespaces of the informers, read from the API server, whether or not the informers have it.
func (i *Informers) All(ctx context.Context, do func(client.Object)) error {
	i.mu.Lock()
	sources := i.sources
	i.mu.Unlock()
	for _, source := range sources {
		if err := list(ctx, source, do); err != nil {
			return err
		}
	}
	return nil
}

// list lists objects page by page.
func list(ctx context.Context, source toolscache.ListerWithContext, do func(client.Object)) error {
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := source.ListWithContext(ctx, options)
		if err != nil {
			return fmt.Errorf("list objects that the cache does not have: %w", err)
		}
		err = meta.EachListItem(page, func(item runtime.Object) error {
			if object, ok := item.(client.Object); ok {
				do(object)
			}
			return nil
		})
		if err != nil {
			return err
		}
		list, err := meta.ListAccessor(page)
		if err != nil || list.GetContinue() == "" {
			return err
		}
		options.Continue = list.GetContinue()
	}
}
