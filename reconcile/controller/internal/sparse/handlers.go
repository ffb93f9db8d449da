package sparse

import (
	"context"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cache is a cache that marks the handlers of a controller as accepting metadata. Such a handler receives other objects as
// PartialObjectMetadata.
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

// partial converts stored metadata to objects for a handler.
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

// OnDelete implements toolscache.ResourceEventHandler. It also drops the kept object.
func (p *partial) OnDelete(object any) {
	p.informer.deleted(object)
	p.ResourceEventHandler.OnDelete(p.object(object))
}

// accept links the controller of a handler. For any other handler it keeps all objects in full.
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
