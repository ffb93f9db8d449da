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

// Source describes the origin of the settings.
type Source[T any] struct {
	// ConfigMap is the name of the ConfigMap with the variable settings. Required.
	ConfigMap client.ObjectKey
	// Resolve returns the settings, or an error if they are invalid. It is a pure function of the ConfigMap, which is nil if it does not
	// exist; Resolve must not modify it. For
	// a deleted ConfigMap, the result for nil counts at once; return an error for nil to keep the last valid settings. Required.
	Resolve func(live *corev1.ConfigMap) (T, error)
	// Recorder records events on the ConfigMap when settings become invalid, and valid again. Optional.
	Recorder events.EventRecorder
	// Log receives the same messages. The zero value logs nothing.
	Log logr.Logger
}

// The reasons of the events.
const (
	reasonInvalid = "InvalidSettings" // the settings cannot be used; the last valid ones remain in use
	reasonValid   = "SettingsValid"   // the settings can be used again
)

// Live holds settings that follow their ConfigMap. It is an event handler for an informer of ConfigMaps and ignores other ConfigMaps. It
// is safe for concurrent use.
type Live[T any] struct {
	source Source[T]

	mu      sync.Mutex
	value   T     // the last valid one
	broken  error // error of the current one
	seen    version
	readers []*Readers[T]
}

// version distinguishes contents of the ConfigMap; the zero value means that it does not exist.
type version struct {
	uid      types.UID
	resource string
}

// Load reads the ConfigMap and resolves the settings. It returns an error if the read fails or the settings are invalid.
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

// resolve calls Resolve and converts a panic to an error, so that the last valid settings remain in use.
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

// Get returns the last valid settings. They are shared and must not be modified. To read them for an owner, use [Read].
func (l *Live[T]) Get() T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.value
}

// Err returns the error of the stored settings; nil if they are valid and in use.
func (l *Live[T]) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// Concerns returns the name of the ConfigMap, so that a cache that keeps only metadata of other ConfigMaps keeps this one entirely.
func (l *Live[T]) Concerns() client.ObjectKey { return l.source.ConfigMap }

// OnAdd handles a new ConfigMap.
func (l *Live[T]) OnAdd(object any, _ bool) { l.take(object, false) }

// OnUpdate handles a changed ConfigMap.
func (l *Live[T]) OnUpdate(_, object any) { l.take(object, false) }

// OnDelete handles a deleted ConfigMap. An informer that missed the deletion passes the last state in a wrapper.
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

// follow resolves new settings and enqueues the owners that have read another value.
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
		l.source.Log.Error(err, "the settings are invalid, the last valid ones stay in use", "configMap", l.source.ConfigMap)
		l.announce(about, corev1.EventTypeWarning, reasonInvalid, fmt.Sprintf("the settings are invalid, the last valid ones stay in use: %v", err))
		return
	}
	if before != nil {
		l.announce(about, corev1.EventTypeNormal, reasonValid, "the settings are valid again")
	}
	l.source.Log.Info("the settings changed", "configMap", l.source.ConfigMap)
	l.value = value
	for _, readers := range l.readers {
		readers.enqueue(value)
	}
}

func (l *Live[T]) announce(about *corev1.ConfigMap, eventType, reason, message string) {
	if l.source.Recorder != nil {
		l.source.Recorder.Eventf(about, nil, eventType, reason, eventAction, "%s", conditions.Bound(message))
	}
}
