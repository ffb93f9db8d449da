package trigger

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// StatusWrites separates the status writes of this controller from those of other writers. An event of the controller's own status
// write does not enqueue the owner; every other change of its status does. The event of a write may arrive before the response.
// StatusWrites therefore holds events during a write until the resourceVersion of the write is known. It is safe for concurrent use,
// with one pass per owner at a time. The zero value is ready.
type StatusWrites struct {
	mu     sync.Mutex
	owners map[types.NamespacedName]*statusWrite
}

// statusWrite is the last write of an owner, until its event arrives.
type statusWrite struct {
	sending bool
	version string // of the stored object, empty until it is known
	held    []heldEvent
}

type heldEvent struct {
	version string
	wake    func()
}

// Begin records that a write is about to be sent.
func (s *StatusWrites) Begin(owner types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owners == nil {
		s.owners = map[types.NamespacedName]*statusWrite{}
	}
	w := s.owners[owner]
	if w == nil {
		w = &statusWrite{}
		s.owners[owner] = w
	}
	w.sending = true
}

// End records the response to a write; version is the resourceVersion of the stored object, empty if the write stored nothing.
func (s *StatusWrites) End(owner types.NamespacedName, version string) {
	for _, wake := range s.release(owner, version) {
		wake()
	}
}

func (s *StatusWrites) release(owner types.NamespacedName, version string) (wakes []func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.owners[owner]
	if w == nil {
		return nil
	}
	w.sending = false
	if version != "" {
		w.version = version
	}
	for _, event := range w.held {
		if event.version == w.version {
			w.version = "" // the event has arrived
			continue
		}
		wakes = append(wakes, event.wake)
	}
	w.held = nil
	if w.version == "" {
		delete(s.owners, owner)
	}
	return wakes
}

// Event calls the function that enqueues the owner, unless the change is a write of this controller. During a write it postpones the call
// to End.
func (s *StatusWrites) Event(owner types.NamespacedName, version string, wake func()) {
	if s.ours(owner, version, wake) {
		return
	}
	wake()
}

// ours reports whether Event must not enqueue the owner now.
func (s *StatusWrites) ours(owner types.NamespacedName, version string, wake func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.owners[owner]
	switch {
	case w == nil:
		return false
	case w.version == version:
		w.version = ""
		if !w.sending {
			delete(s.owners, owner)
		}
		return true
	case w.sending:
		w.held = append(w.held, heldEvent{version: version, wake: wake})
		return true
	}
	return false
}

// Forget drops the state of a deleted owner.
func (s *StatusWrites) Forget(owner types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.owners[owner]; w != nil && !w.sending {
		delete(s.owners, owner)
	}
}

// statusChanged reports whether the statuses of two objects of one type differ. It returns false for types without a status.
func statusChanged(before, after client.Object) bool {
	if reflect.TypeOf(before) != reflect.TypeOf(after) {
		return true
	}
	if b, ok := before.(runtime.Unstructured); ok {
		a, _ := after.(runtime.Unstructured)
		return !equality.Semantic.DeepEqual(b.UnstructuredContent()["status"], a.UnstructuredContent()["status"])
	}
	b, a := reflect.Indirect(reflect.ValueOf(before)), reflect.Indirect(reflect.ValueOf(after))
	if b.Kind() != reflect.Struct {
		return false
	}
	was, is := b.FieldByName("Status"), a.FieldByName("Status")
	return was.IsValid() && is.IsValid() && !equality.Semantic.DeepEqual(was.Interface(), is.Interface())
}
