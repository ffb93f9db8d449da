package settings

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/conditions"
)

const eventAction = "Reconcile"

// Source is where settings come from.
type Source[T any] struct {
	// ConfigMap is the object with what may change. Required.
	ConfigMap client.ObjectKey
	// Resolve returns the settings, or what is wrong with them. It is a pure function of the ConfigMap, nil when that does not exist,
	// which it must not change. Required.
	Resolve func(live *corev1.ConfigMap) (T, error)
	// Recorder announces settings that are wrong, and mended, as events on the ConfigMap. Nil announces none.
	Recorder events.EventRecorder
	// Log gets the same. The zero value logs nothing.
	Log logr.Logger
}

// The reasons of the events.
const (
	reasonInvalid = "InvalidSettings" // the settings cannot be used; the last good ones stay
	reasonValid   = "SettingsValid"   // the settings can be used again
)

// Live are settings that follow their ConfigMap. They are a handler of the events of an informer for ConfigMaps, which hands on those
// of the right one. Safe for concurrent use.
type Live[T any] struct {
	source Source[T]

	mu      sync.Mutex
	value   T     // the last good one
	broken  error // what is wrong with the current one
	seen    version
	readers []*Readers[T]
}

// version tells contents of the ConfigMap apart; the zero value is that it does not exist.
type version struct {
	uid      types.UID
	resource string
}

// Load reads the ConfigMap and resolves the settings. What is wrong with them, or with the read, is an error: an operator starts
// with settings that are right.
func Load[T any](ctx context.Context, reader client.Reader, source Source[T]) (*Live[T], error) {
	if source.Resolve == nil || source.ConfigMap.Name == "" {
		return nil, errors.New("settings: want a ConfigMap and a function Resolve")
	}
	live := &Live[T]{source: source}
	found := &corev1.ConfigMap{}
	err := reader.Get(ctx, source.ConfigMap, found)
	switch {
	case apierrors.IsNotFound(err):
		found = nil
	case err != nil:
		return nil, fmt.Errorf("settings: read the ConfigMap %s: %w", source.ConfigMap, err)
	}
	if live.value, err = source.resolve(found); err != nil {
		return nil, fmt.Errorf("settings: ConfigMap %s: %w", source.ConfigMap, err)
	}
	live.seen = versionOf(found)
	return live, nil
}

// resolve calls Resolve. A panic is an error like any other: the last good settings stay.
func (s *Source[T]) resolve(live *corev1.ConfigMap) (value T, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic in Resolve: %v", reason)
			s.Log.Error(err, "the function Resolve of the settings panicked", "configMap", s.ConfigMap, "stack", string(debug.Stack()))
		}
	}()
	return s.Resolve(live)
}

func versionOf(o *corev1.ConfigMap) version {
	if o == nil {
		return version{}
	}
	return version{uid: o.UID, resource: o.ResourceVersion}
}

// Get returns the settings that count: the last good ones. They are shared and must not be changed. A read for an owner is [Read].
func (l *Live[T]) Get() T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.value
}

// Err reports what is wrong with the settings that are stored now; nil when they are those that count.
func (l *Live[T]) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// Concerns names the ConfigMap, so that a cache which keeps of ConfigMaps of others the metadata only keeps this one whole.
func (l *Live[T]) Concerns() client.ObjectKey { return l.source.ConfigMap }

// OnAdd takes in a ConfigMap that has appeared.
func (l *Live[T]) OnAdd(object any, _ bool) { l.take(object, false) }

// OnUpdate takes in a ConfigMap that has changed.
func (l *Live[T]) OnUpdate(_, object any) { l.take(object, false) }

// OnDelete takes in that a ConfigMap is gone. An informer that has missed the deletion hands on the last state in a wrapper.
func (l *Live[T]) OnDelete(object any) { l.take(object, true) }

func (l *Live[T]) take(object any, gone bool) {
	if missed, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = missed.Obj
	}
	found, ok := object.(*corev1.ConfigMap)
	if !ok || client.ObjectKeyFromObject(found) != l.source.ConfigMap {
		return
	}
	current := found
	if gone {
		current = nil
	}
	l.follow(found, current)
}

// follow resolves the settings anew unless they are known, and wakes whoever has seen something else.
func (l *Live[T]) follow(about, current *corev1.ConfigMap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := versionOf(current)
	if seen == l.seen {
		return
	}
	l.seen = seen
	value, err := l.source.resolve(current)
	before := l.broken
	if l.broken = err; err != nil {
		l.source.Log.Error(err, "the settings are not valid, the last valid ones stay", "configMap", l.source.ConfigMap)
		l.announce(about, corev1.EventTypeWarning, reasonInvalid, fmt.Sprintf("the settings are not valid, the last valid ones stay: %v", err))
		return
	}
	if before != nil {
		l.announce(about, corev1.EventTypeNormal, reasonValid, "the settings are valid again")
	}
	l.source.Log.Info("the settings have been read anew", "configMap", l.source.ConfigMap)
	l.value = value
	for _, readers := range l.readers {
		readers.wake(value)
	}
}

func (l *Live[T]) announce(about *corev1.ConfigMap, eventType, reason, message string) {
	if l.source.Recorder != nil {
		l.source.Recorder.Eventf(about, nil, eventType, reason, eventAction, "%s", conditions.Bound(message))
	}
}
