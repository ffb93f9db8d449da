package external

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Watch runs the streams of all kinds that support them, until the context ends. It calls changed with each changed key, and with the
// empty key when a stream opens, because any resource of the kind may have changed before.
func (e *Engine) Watch(ctx context.Context, changed func(kind schema.GroupVersionKind, key string)) {
	var streams sync.WaitGroup
	for _, k := range e.kinds {
		if k.watcher != nil {
			streams.Go(func() { k.watch(ctx, changed) })
		}
	}
	streams.Wait()
}

func (k *kind) watch(ctx context.Context, changed func(schema.GroupVersionKind, string)) {
	said := "" // the last logged error
	gvk := gvkOf(k.name)
	for ctx.Err() == nil {
		err := k.stream(ctx, func() { changed(gvk, "") }, func(key string) { changed(gvk, key) })
		if ctx.Err() != nil {
			return
		}
		if text := errorText(err); text != said {
			log.FromContext(ctx).Info("the stream of events from outside ended and is opened again", "kind", k.name, "error", text)
			said = text
		}
		select {
		case <-ctx.Done():
		case <-time.After(k.options.Rewatch):
		}
	}
}

// stream calls Watch of the system and converts a panic to an error, so that the stream is opened again.
func (k *kind) stream(ctx context.Context, opened func(), changed func(key string)) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic in Watch of external kind %s: %v", k.name, reason)
			log.FromContext(ctx).Error(err, "a function of an external system panicked", "kind", k.name, "stack", string(debug.Stack()))
		}
	}()
	return k.watcher.Watch(ctx, opened, changed)
}

func errorText(err error) string {
	if err == nil {
		return "none"
	}
	return err.Error()
}
