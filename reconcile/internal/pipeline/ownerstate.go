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

// owners is what a pipeline remembers of each owner between passes: its UID, and the resourceVersion of the engine's last
// write to it until the cache shows it, so that no pass decides on a status or on metadata that the engine has itself
// replaced. Resource versions are compared as KEP-5504 says.
type owners struct {
	mu     sync.Mutex
	owners map[client.ObjectKey]state
	// types are the condition types that were noted last: owners of a kind mostly have the same, and share them.
	types []string
}

type state struct {
	uid     types.UID
	written freshness.Write     // the last write of the engine, until the cache shows it
	types   []string            // of the conditions that this process has set and that may be stored
	unkept  *[]metav1.Condition // of the last pass, where the owner's type does not keep them
	paused  bool
	failure *failure // nil when the last pass had no error to log
}

// failure is what was logged last about the errors of an owner.
type failure struct {
	text  string
	until time.Time // when the same is logged again
}

// Seen notes the owner and returns the UID of the object that it has replaced under the same name, if any.
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

// Wrote remembers the version that a write of the engine gave to the owner.
func (o *owners) Wrote(owner client.Object, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	if last, known := o.owners[key]; known && last.uid == owner.GetUID() {
		last.written = freshness.Wrote(owner.GetResourceVersion(), now)
		o.owners[key] = last
	}
}

// Stale reports whether the cache still shows the owner as it was before the engine's last write. Past the deadline,
// and for versions that cannot be compared, it gives up and lets the pass go: the API server's preconditions guard it.
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

// NoteTypes remembers the condition types of a pass. When its status could not be stored, those of the pass before may
// still be there.
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

// Pause notes whether the owner is paused and reports whether that is news. An owner that is seen for the first time and is not
// paused is none.
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

// NewFailure notes the errors of a pass and reports whether they are to be logged: they differ from those that were logged last, or
// that was so long ago.
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

// Succeeded notes that a pass had no error to log.
func (o *owners) Succeeded(owner client.ObjectKey) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last, known := o.owners[owner]; known && last.failure != nil {
		last.failure = nil
		o.owners[owner] = last
	}
}

// Unkept returns the conditions of the pass before that the owner's type does not keep, and whether there was one.
func (o *owners) Unkept(owner client.Object) (known bool, list []metav1.Condition) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.owners[client.ObjectKeyFromObject(owner)]
	if last.uid != owner.GetUID() || last.unkept == nil {
		return false, nil
	}
	return true, *last.unkept
}

// NoteUnkept remembers the conditions that the owner's type does not keep.
func (o *owners) NoteUnkept(owner client.Object, list []metav1.Condition) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	if last, known := o.owners[key]; known && last.uid == owner.GetUID() {
		last.unkept = &list
		o.owners[key] = last
	}
}

// Forget drops an owner that is gone and returns the UID that it had.
func (o *owners) Forget(owner client.ObjectKey) (uid types.UID, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last, known := o.owners[owner]
	delete(o.owners, owner)
	return last.uid, known
}
