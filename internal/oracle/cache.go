package oracle

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cache is the content of the engine's cache, as set by the sequence.
type cache struct {
	mu      sync.Mutex
	objects map[cacheKey]client.Object
}

type cacheKey struct {
	gk  schema.GroupKind
	key client.ObjectKey
}

func newCache() *cache { return &cache{objects: map[cacheKey]client.Object{}} }

// show sets the cached object of the key; nil is none.
func (c *cache) show(gvk schema.GroupVersionKind, key client.ObjectKey, o client.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o == nil {
		delete(c.objects, cacheKey{gvk.GroupKind(), key})
		return
	}
	c.objects[cacheKey{gvk.GroupKind(), key}] = o
}

func (c *cache) get(gvk schema.GroupVersionKind, key client.ObjectKey, into client.Object) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.objects[cacheKey{gvk.GroupKind(), key}]
	if o == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
	}
	return copyInto(o, into)
}

func (c *cache) list(gvk schema.GroupVersionKind, opts *client.ListOptions, into client.ObjectList) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	selector := opts.LabelSelector
	if selector == nil {
		selector = labels.Everything()
	}
	items := []runtime.Object{}
	for k, o := range c.objects {
		if k.gk != gvk.GroupKind() || (opts.Namespace != "" && opts.Namespace != k.key.Namespace) ||
			!selector.Matches(labels.Set(o.GetLabels())) {
			continue
		}
		item, err := itemOf(into)
		if err != nil {
			return err
		}
		if err := copyInto(o, item); err != nil {
			return err
		}
		items = append(items, item)
	}
	return meta.SetList(into, items)
}

// itemOf returns an empty item of a list.
func itemOf(list client.ObjectList) (client.Object, error) {
	if _, ok := list.(*unstructured.UnstructuredList); ok {
		return &unstructured.Unstructured{}, nil
	}
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		return nil, fmt.Errorf("list into %T: %w", list, err)
	}
	item, ok := reflect.New(reflect.TypeOf(items).Elem().Elem()).Interface().(client.Object)
	if !ok {
		return nil, fmt.Errorf("list into %T: its items are not objects", list)
	}
	return item, nil
}

// copyInto copies an object into one of the same or another representation.
func copyInto(from, into client.Object) error {
	if reflect.TypeOf(from) == reflect.TypeOf(into) {
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
		return nil
	}
	if u, ok := into.(*unstructured.Unstructured); ok {
		u.Object = jsonOf(from)
		return nil
	}
	return convert(from, into)
}

// engineClient reads from the cache, writes to the API server and counts.
type engineClient struct {
	client.Client
	cache    *cache
	mu       sync.Mutex
	requests []string
}

func (c *engineClient) note(verb string, o client.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := fmt.Sprintf("%T", o)
	if gvk, err := c.GroupVersionKindFor(o); err == nil {
		kind = gvk.Kind
	}
	c.requests = append(c.requests, verb+" "+kind+" "+o.GetName())
}

// take returns the requests since the last call.
func (c *engineClient) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.requests
	c.requests = nil
	return out
}

func (c *engineClient) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	gvk, err := c.GroupVersionKindFor(o)
	if err != nil {
		return err
	}
	return c.cache.get(gvk, key, o)
}

func (c *engineClient) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	gvk, err := c.GroupVersionKindFor(list)
	if err != nil {
		return err
	}
	gvk.Kind = gvk.Kind[:len(gvk.Kind)-len("List")]
	o := &client.ListOptions{}
	o.ApplyOptions(opts)
	return c.cache.list(gvk, o, list)
}

func (c *engineClient) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	c.note("POST", o)
	return c.Client.Create(ctx, o, opts...)
}

func (c *engineClient) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	c.note("PUT", o)
	return c.Client.Update(ctx, o, opts...)
}

func (c *engineClient) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	c.note("DELETE", o)
	return c.Client.Delete(ctx, o, opts...)
}

func (c *engineClient) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	c.note("PATCH", o)
	return c.Client.Patch(ctx, o, patch, opts...)
}

// liveReader counts live reads as requests.
type liveReader struct{ *engineClient }

func (l liveReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	o.SetName(key.Name)
	l.note("GET", o)
	return l.Client.Get(ctx, key, o, opts...)
}

func (l liveReader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	l.mu.Lock()
	l.requests = append(l.requests, fmt.Sprintf("LIST %T", list))
	l.mu.Unlock()
	return l.Client.List(ctx, list, opts...)
}
