package sparse

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Link ties a kind of a controller to the informers that it listens to: they ask it what the controller needs, and it gives them what was read
// live. A nil Link has no informers.
type Link struct {
	controller string
	wanted     func(object client.Object) bool

	mu        sync.Mutex
	informers []*Informer
}

// NewLink returns a link of a controller that needs what wanted reports of, which is called for each object of others that the informers get.
func NewLink(controller string, wanted func(object client.Object) bool) *Link {
	return &Link{controller: controller, wanted: wanted}
}

// join links an informer.
func (l *Link) join(i *Informer) {
	l.mu.Lock()
	l.informers = append(slices.DeleteFunc(slices.Clone(l.informers), func(other *Informer) bool { return other == i || other.IsStopped() }), i)
	l.mu.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	if !slices.Contains(i.links, l) {
		i.links = append(slices.Clip(i.links), l)
	}
}

// joined are the informers that keep the kind sparsely.
func (l *Link) joined() []*Informer {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.informers
}

// Sparse reports whether the caches of the kind keep of some objects the metadata only.
func (l *Link) Sparse() bool { return len(l.joined()) > 0 }

// Known reports whether the informers keep whole what is of the controller, because it is one of those that they were made for: [OursField] then
// lists all of that.
func (l *Link) Known() bool {
	informers := l.joined()
	return len(informers) > 0 && !slices.ContainsFunc(informers, func(i *Informer) bool { return !slices.Contains(i.controllers, l.controller) })
}

// MetadataOnly reports whether the store has of an object the metadata only, whatever is kept beside it.
func (l *Link) MetadataOnly(key types.NamespacedName) bool {
	informers := l.joined()
	if len(informers) == 0 {
		return false
	}
	text := key.Name
	if key.Namespace != "" {
		text = key.Namespace + "/" + key.Name
	}
	return slices.ContainsFunc(informers, func(i *Informer) bool {
		item, _, _ := i.SharedIndexInformer.GetIndexer().GetByKey(text) // a look into memory, which has no error
		_, only := item.(*metadataOnly)
		return only
	})
}

// Unread gives back what is kept of objects that nobody reads any more.
func (l *Link) Unread() {
	for _, i := range l.joined() {
		i.sweep()
	}
}

// Missing finds the objects that match of which the caches have the metadata only; an empty namespace is all. Matches gets what the cache keeps.
func (l *Link) Missing(namespace string, matches func(client.Object) bool) (found []Absent) {
	for _, i := range l.joined() {
		v := &view{i.SharedIndexInformer.GetIndexer(), i}
		found = v.missing(found, namespace, func(m *metadataOnly) bool { return matches(m.partial(i.kind)) })
	}
	return found
}

// Absent is an object of which an informer has the metadata only.
type Absent struct {
	// Key is its name.
	Key      types.NamespacedName
	informer *Informer
	uid      types.UID
}

// Take gives the cache the object as it was read live, which it owns from then on.
func (a Absent) Take(object client.Object) { a.informer.take(object) }

// Gone notes that the object does not exist any more.
func (a Absent) Gone() { a.informer.goneFor(a.Key, a.uid) }

// Cache is a cache whose informers know that the handlers of a controller take metadata for what it is. The objects that such a handler gets of
// others are metadata only, PartialObjectMetadata.
type Cache struct {
	cache.Cache

	Link *Link
}

// GetInformer returns the informer of a kind.
func (c Cache) GetInformer(ctx context.Context, object client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	i, err := c.Cache.GetInformer(ctx, object, opts...)
	if err != nil {
		return nil, err
	}
	return linked{i, c.Link}, nil
}

// linked adds handlers that an [Informer] links.
type linked struct {
	cache.Informer

	link *Link
}

func (l linked) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return l.Informer.AddEventHandler(&handler{h, l.link})
}

func (l linked) AddEventHandlerWithResyncPeriod(
	h toolscache.ResourceEventHandler, period time.Duration,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return l.Informer.AddEventHandlerWithResyncPeriod(&handler{h, l.link}, period)
}

func (l linked) AddEventHandlerWithOptions(
	h toolscache.ResourceEventHandler, options toolscache.HandlerOptions,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return l.Informer.AddEventHandlerWithOptions(&handler{h, l.link}, options)
}

// handler is a handler of a controller.
type handler struct {
	toolscache.ResourceEventHandler

	link *Link
}

// partial hands metadata on as objects.
type partial struct {
	toolscache.ResourceEventHandler

	informer *Informer
}

func (p *partial) object(in any) any {
	switch in := in.(type) {
	case *metadataOnly:
		return in.partial(p.informer.kind)
	case toolscache.DeletedFinalStateUnknown:
		in.Obj = p.object(in.Obj)
		return in
	}
	return in
}

// OnAdd implements toolscache.ResourceEventHandler.
func (p *partial) OnAdd(object any, initial bool) {
	p.ResourceEventHandler.OnAdd(p.object(object), initial)
}

// OnUpdate implements toolscache.ResourceEventHandler.
func (p *partial) OnUpdate(before, after any) {
	p.ResourceEventHandler.OnUpdate(p.object(before), p.object(after))
}

// OnDelete gives back what was kept of the object.
func (p *partial) OnDelete(object any) {
	p.informer.deleted(object)
	p.ResourceEventHandler.OnDelete(p.object(object))
}

// accept links the controller of a handler, and keeps all objects whole for a handler of anybody else.
func (i *Informer) accept(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandler, error) {
	ours, ok := h.(*handler)
	if one, about := h.(single); about && i.keepSingle(one.Concerns()) {
		return toolscache.FilteringResourceEventHandler{FilterFunc: isWhole, Handler: h}, nil
	}
	if !ok || ours.link == nil {
		return h, i.keepAll("an event handler")
	}
	if i.all.Load() {
		return ours.ResourceEventHandler, nil
	}
	ours.link.join(i)
	return &partial{ours.ResourceEventHandler, i}, nil
}

// AddEventHandler adds a handler.
func (i *Informer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	accepted, err := i.accept(h)
	if err != nil {
		return nil, err
	}
	return i.SharedIndexInformer.AddEventHandler(accepted)
}

// AddEventHandlerWithResyncPeriod adds a handler.
func (i *Informer) AddEventHandlerWithResyncPeriod(
	h toolscache.ResourceEventHandler, period time.Duration,
) (toolscache.ResourceEventHandlerRegistration, error) {
	accepted, err := i.accept(h)
	if err != nil {
		return nil, err
	}
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(accepted, period)
}

// AddEventHandlerWithOptions adds a handler.
func (i *Informer) AddEventHandlerWithOptions(
	h toolscache.ResourceEventHandler, options toolscache.HandlerOptions,
) (toolscache.ResourceEventHandlerRegistration, error) {
	accepted, err := i.accept(h)
	if err != nil {
		return nil, err
	}
	return i.SharedIndexInformer.AddEventHandlerWithOptions(accepted, options)
}
