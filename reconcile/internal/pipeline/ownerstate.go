package pipeline

import (
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// owners has the state of each owner between passes: its UID, and the resourceVersion of the engine's last write to it until the cache
// shows it, so that no pass decides on a status or on metadata that the engine has replaced. Resource versions are compared as KEP-5504
// specifies.
type owners struct {
	mu     sync.Mutex
	owners map[client.ObjectKey]state
	// types are the most recently recorded condition types. Owners of a kind usually have the same types, and share the slice.
	types []string
}

type state struct {
	uid     types.UID
	written freshness.Write     // the last write of the engine, until the cache shows it
	types   []string            // of the conditions that this process has set and that may be stored
	unkept  *[]metav1.Condition // conditions of the last pass that the owner's type does not keep
	paused  bool
	handled string   // the last request of a reconciliation that this process has handled
	failure *failure // nil if the last pass had no error to log
}

// failure is the most recently logged error of an owner.
type failure struct {
	text  string
	until time.Time // the time to log the same error again
}

// Seen records the owner and returns the UID of a former object of the same name, if any.
func (o *owners) Seen(owner client.Object) (previous types.UID, replaced bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	last, known := o.owners[key]
	if known && last.uid == owner.GetUID() {
		return "", false
	}
	if o.owners == nil {
		o.owners = map[client.ObjectKey]state{}
	}
	o.owners[key] = state{uid: owner.GetUID()}
	return last.uid, known
}

// Wrote records the resourceVersion of the owner after a write of the engine.
func (o *owners) Wrote(owner client.Object, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	if last, known := o.owners[key]; known && last.uid == owner.GetUID() {
		last.written = freshness.Wrote(owner.GetResourceVersion(), now)
		o.owners[key] = last
	}
}

// Stale reports whether the cache still shows the owner before the engine's last write. After the deadline, and for versions that
// cannot be compared, it returns false: the API server's preconditions protect the owner.
func (o *owners) Stale(owner client.Object, now time.Time, deadline time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	last := o.owners[key]
	if !last.written.Pending() {
		return false
	}
	if last.written.Left(now, deadline) > 0 && last.written.HiddenBy(owner) {
		return true
	}
	last.written = freshness.Write{}
	o.owners[key] = last
	return false
}

// NoteTypes records the condition types of a pass. If its status was not stored, the types of the pass before are kept, too, because
// they may still be stored.
func (o *owners) NoteTypes(owner client.Object, types []string, stored bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	last, known := o.owners[key]
	if !known || last.uid != owner.GetUID() {
		return
	}
	if !stored {
		types = slices.Concat(types, last.types)
		slices.Sort(types)
		types = slices.Compact(types)
	}
	if slices.Equal(last.types, types) {
		return
	}
	if !slices.Equal(o.types, types) {
		o.types = types
	}
	last.types = o.types
	o.owners[key] = last
}

// HasSet reports whether this process has set a condition of that type.
func (o *owners) HasSet(owner client.Object, conditionType string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.owners[client.ObjectKeyFromObject(owner)]
	return last.uid == owner.GetUID() && slices.Contains(last.types, conditionType)
}

// Pause records whether the owner is paused and reports whether that is a change. An unpaused owner that is seen for the first time is
// not a change.
func (o *owners) Pause(owner client.Object, paused bool) (changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	last, known := o.owners[key]
	if !known || last.paused == paused {
		return false
	}
	last.paused = paused
	o.owners[key] = last
	return true
}

// Handled reports whether this process has handled the request.
func (o *owners) Handled(owner client.Object, token string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.owners[client.ObjectKeyFromObject(owner)]
	return last.uid == owner.GetUID() && last.handled == token
}

// Handle records that this process has handled the request.
func (o *owners) Handle(owner client.Object, token string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	if last, known := o.owners[key]; known && last.uid == owner.GetUID() {
		last.handled = token
		o.owners[key] = last
	}
}

// NewFailure records the errors of a pass and reports whether to log them: they differ from the last logged ones, or
// those were logged longer ago than repeat.
func (o *owners) NewFailure(owner client.ObjectKey, text string, now time.Time, repeat time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	last, known := o.owners[owner]
	if last.failure != nil && last.failure.text == text && now.Before(last.failure.until) {
		return false
	}
	if known {
		last.failure = &failure{text: text, until: now.Add(repeat)}
		o.owners[owner] = last
	}
	return true
}

// Succeeded records that a pass had no error to log.
func (o *owners) Succeeded(owner client.ObjectKey) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last, known := o.owners[owner]; known && last.failure != nil {
		last.failure = nil
		o.owners[owner] = last
	}
}

// Unkept returns the conditions of the pass before that the owner's type does not keep, and whether there was a pass.
func (o *owners) Unkept(owner client.Object) (known bool, list []metav1.Condition) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.owners[client.ObjectKeyFromObject(owner)]
	if last.uid != owner.GetUID() || last.unkept == nil {
		return false, nil
	}
	return true, *last.unkept
}

// NoteUnkept records the conditions that the owner's type does not keep.
func (o *owners) NoteUnkept(owner client.Object, list []metav1.Condition) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	if last, known := o.owners[key]; known && last.uid == owner.GetUID() {
		last.unkept = &list
		o.owners[key] = last
	}
}

// Forget drops the state of a deleted owner and returns its UID.
func (o *owners) Forget(owner client.ObjectKey) (uid types.UID, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last, known := o.owners[owner]
	delete(o.owners, owner)
	return last.uid, known
}
