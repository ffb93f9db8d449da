package view

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// Observe records the state of the cluster that the cache will show. Changes between two calls are seen as one change, as by an interrupted
// watch.
func (v *View) Observe() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	revision, countable := v.cluster.Revision()
	if countable && revision == v.seen {
		return nil
	}
	v.seen = revision
	for _, gvk := range v.watched() {
		k := v.kinds[gvk]
		state, err := v.cluster.List(gvk)
		if err != nil {
			return err
		}
		state = v.filter(gvk, state)
		if len(changes(gvk, k.newest, state)) > 0 {
			k.newest = state
			k.pipe = append(k.pipe, pending{v.tick + 1, state})
		}
	}
	return nil
}

// Sync observes the cluster and delivers the events of the newly visible changes.
func (v *View) Sync() error {
	if err := v.Observe(); err != nil {
		return err
	}
	v.mu.Lock()
	v.tick++
	events := v.show()
	v.mu.Unlock()
	v.deliver(events)
	return nil
}

// Advance advances the cache by one step and reports whether it lagged.
func (v *View) Advance() bool {
	v.mu.Lock()
	behind := false
	for _, k := range v.kinds {
		behind = behind || len(k.pipe) > 0
	}
	if !behind {
		v.mu.Unlock()
		return false
	}
	v.tick++
	events := v.show()
	v.mu.Unlock()
	v.deliver(events)
	return true
}

// show advances the kinds to the newest state that is old enough.
func (v *View) show() []Event {
	var events []Event
	for _, gvk := range v.watched() {
		k := v.kinds[gvk]
		k.settle()
		for len(k.pipe) > 0 && k.pipe[0].tick <= v.tick-v.lag(gvk) {
			news := changes(gvk, k.shown, k.pipe[0].state)
			events = append(events, news...)
			k.shown, k.pipe = k.pipe[0].state, k.pipe[1:]
			k.move(v, gvk, news)
		}
	}
	if v.shake != nil {
		events = v.shake(events)
	}
	return events
}

// move updates the stores of a kind.
func (k *viewKind) move(v *View, gvk schema.GroupVersionKind, events []Event) {
	for as, i := range k.informers {
		if i.store != nil {
			i.store.move(v, gvk, as, events)
		}
	}
}

// settle drops the versions that delivered events have replaced.
func (k *viewKind) settle() {
	for _, i := range k.informers {
		if i.store != nil {
			clear(i.store.replaced)
		}
	}
}

// Resync delivers an event for every object, as the periodic resync does.
func (v *View) Resync() {
	v.mu.Lock()
	var events []Event
	for _, gvk := range v.watched() {
		for _, key := range objects.SortedKeys(v.kinds[gvk].shown) {
			u := v.kinds[gvk].shown[key]
			events = append(events, Event{gvk: gvk, key: key, Before: u, After: u})
		}
	}
	v.mu.Unlock()
	v.deliver(events)
}

// changes returns the events between two states.
func changes(gvk schema.GroupVersionKind, from, to cluster.Snapshot) []Event {
	var events []Event
	for _, key := range objects.SortedKeys(from) {
		before, after := from[key], to[key]
		switch {
		case after == nil:
			events = append(events, Event{gvk: gvk, key: key, Before: before})
		case after.GetUID() != before.GetUID():
			events = append(events, Event{gvk: gvk, key: key, Before: before}, Event{gvk: gvk, key: key, After: after})
		case after.GetResourceVersion() != before.GetResourceVersion():
			events = append(events, Event{gvk: gvk, key: key, Before: before, After: after})
		}
	}
	for _, key := range objects.SortedKeys(to) {
		if from[key] == nil {
			events = append(events, Event{gvk: gvk, key: key, After: to[key]})
		}
	}
	return events
}

func (v *View) deliver(events []Event) {
	for _, e := range events {
		v.mu.Lock()
		k := v.kinds[e.gvk]
		type delivery struct {
			handler       toolscache.ResourceEventHandler
			before, after any
		}
		var deliveries []delivery
		for _, as := range []representation{"typed", "metadata", "unstructured"} {
			i := k.informers[as]
			if i == nil {
				continue
			}
			var d delivery
			var err error
			if e.Before != nil {
				d.before, err = i.object(k, e.key, e.Before)
			}
			if e.After != nil && err == nil {
				d.after, err = i.object(k, e.key, e.After)
			}
			if err != nil || d.before == nil && d.after == nil {
				continue // an informer could not decode it either
			}
			for _, handler := range i.handlers {
				d.handler = handler
				deliveries = append(deliveries, d)
			}
		}
		v.mu.Unlock()
		for _, d := range deliveries {
			switch {
			case d.before == nil:
				d.handler.OnAdd(d.after, false)
			case d.after == nil:
				d.handler.OnDelete(d.before)
			default:
				d.handler.OnUpdate(d.before, d.after)
			}
		}
		if v.Delivered != nil {
			v.Delivered()
		}
	}
}
