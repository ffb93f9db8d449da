package reconcile

import (
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// ledger is what a pipeline remembers of each owner between passes: its UID, and the resourceVersion of the engine's last
// write to it until the cache shows it, so that no pass decides on a status or on metadata that the engine has itself
// replaced. Resource versions are compared as KEP-5504 says.
type ledger struct {
	mu     sync.Mutex
	owners map[client.ObjectKey]entry
	// types are the condition types that were noted last: owners of a kind mostly have the same, and share them.
	types []string
}

type entry struct {
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

// seen notes the owner and returns the UID of the object that it has replaced under the same name, if any.
func (l *ledger) seen(owner client.Object) (previous types.UID, replaced bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	last, known := l.owners[key]
	if known && last.uid == owner.GetUID() {
		return "", false
	}
	if l.owners == nil {
		l.owners = map[client.ObjectKey]entry{}
	}
	l.owners[key] = entry{uid: owner.GetUID()}
	return last.uid, known
}

// wrote remembers the version that a write of the engine gave to the owner.
func (l *ledger) wrote(owner client.Object, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	if last, known := l.owners[key]; known && last.uid == owner.GetUID() {
		last.written = freshness.Wrote(owner.GetResourceVersion(), now)
		l.owners[key] = last
	}
}

// stale reports whether the cache still shows the owner as it was before the engine's last write. Past the deadline,
// and for versions that cannot be compared, it gives up and lets the pass go: the API server's preconditions guard it.
func (l *ledger) stale(owner client.Object, now time.Time, deadline time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	last := l.owners[key]
	if !last.written.Pending() {
		return false
	}
	if last.written.Left(now, deadline) > 0 && last.written.HiddenBy(owner) {
		return true
	}
	last.written = freshness.Write{}
	l.owners[key] = last
	return false
}

// noteTypes remembers the condition types of a pass. When its status could not be stored, those of the pass before may
// still be there.
func (l *ledger) noteTypes(owner client.Object, types []string, stored bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	last, known := l.owners[key]
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
	if !slices.Equal(l.types, types) {
		l.types = types
	}
	last.types = l.types
	l.owners[key] = last
}

// hasSet reports whether this process has set a condition of that type, so that it is there by our doing.
func (l *ledger) hasSet(owner client.Object, conditionType string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.owners[client.ObjectKeyFromObject(owner)]
	return last.uid == owner.GetUID() && slices.Contains(last.types, conditionType)
}

// pause notes whether the owner is paused and reports whether that is news. An owner that is seen for the first time and is not
// paused is none.
func (l *ledger) pause(owner client.Object, paused bool) (changed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	last, known := l.owners[key]
	if !known || last.paused == paused {
		return false
	}
	last.paused = paused
	l.owners[key] = last
	return true
}

// news notes the errors of a pass and reports whether they are to be logged: they differ from those that were logged last, or
// that was so long ago.
func (l *ledger) news(owner client.ObjectKey, text string, now time.Time, repeat time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.owners[owner]
	if last.failure != nil && last.failure.text == text && now.Before(last.failure.until) {
		return false
	}
	if known {
		last.failure = &failure{text: text, until: now.Add(repeat)}
		l.owners[owner] = last
	}
	return true
}

// quiet notes that a pass had no error to log.
func (l *ledger) quiet(owner client.ObjectKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last, known := l.owners[owner]; known && last.failure != nil {
		last.failure = nil
		l.owners[owner] = last
	}
}

// unkept returns the conditions of the pass before that the owner's type does not keep, and whether there was one.
func (l *ledger) unkept(owner client.Object) (known bool, list []metav1.Condition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.owners[client.ObjectKeyFromObject(owner)]
	if last.uid != owner.GetUID() || last.unkept == nil {
		return false, nil
	}
	return true, *last.unkept
}

// noteUnkept remembers the conditions that the owner's type does not keep.
func (l *ledger) noteUnkept(owner client.Object, list []metav1.Condition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	if last, known := l.owners[key]; known && last.uid == owner.GetUID() {
		last.unkept = &list
		l.owners[key] = last
	}
}

// forget drops an owner that is gone and returns the UID that it had.
func (l *ledger) forget(owner client.ObjectKey) (uid types.UID, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.owners[owner]
	delete(l.owners, owner)
	return last.uid, known
}
