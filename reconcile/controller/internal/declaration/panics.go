package declaration

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// The functions of an author that run when an object changes, outside of passes.
const (
	FunctionIndex      = "Index"
	FunctionMapping    = "Watches"
	FunctionPredicates = "WithPredicates"
	FunctionWhere      = "Where"
)

// Panics recovers and records panics of functions that run when an object changes: they must not end the process. The result of such a
// function is unknown until it returns for that object. The zero value is ready, and safe for concurrent use.
type Panics struct {
	// Report receives each panic once while it persists. Optional. It is set before the first event.
	Report func(function string, object types.NamespacedName, reason any, stack []byte)

	count atomic.Int64 // of known, so that no lock is taken while there are none
	mu    sync.Mutex
	known map[panicked]lastPanic
}

// lastPanic is the value of a panic, and the version of the object.
type lastPanic struct {
	reason  any
	version string
}

// panicked identifies a function that panicked for an object; field is that of an index, else empty.
type panicked struct {
	function, field string
	object          types.NamespacedName
}

// Guard calls do, a function of the author for an object, and reports whether it returned without a panic.
func (p *Panics) Guard(function, field string, object client.Object, do func()) (ended bool) {
	at := panicked{function, field, client.ObjectKeyFromObject(object)}
	defer func() {
		if reason := recover(); reason != nil {
			p.note(at, lastPanic{reason, object.GetResourceVersion()}, debug.Stack())
			return
		}
		ended = true
		if p.count.Load() > 0 { // an event may be about an older version than the last one
			p.forget(func(other panicked, last lastPanic) bool {
				return other == at && !freshness.Older(object.GetResourceVersion(), last.version)
			})
		}
	}()
	do()
	return true
}

// Forget drops the panics about a deleted object.
func (p *Panics) Forget(object client.Object) {
	if p.count.Load() > 0 {
		key := client.ObjectKeyFromObject(object)
		p.forget(func(other panicked, _ lastPanic) bool { return other.object == key })
	}
}

func (p *Panics) note(at panicked, last lastPanic, stack []byte) {
	p.mu.Lock()
	_, twice := p.known[at]
	if p.known == nil {
		p.known = map[panicked]lastPanic{}
	}
	p.known[at] = last
	p.count.Store(int64(len(p.known)))
	p.mu.Unlock()
	if !twice && p.Report != nil {
		p.Report(at.function, at.object, last.reason, stack)
	}
}

func (p *Panics) forget(which func(panicked, lastPanic) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at, last := range p.known {
		if which(at, last) {
			delete(p.known, at)
		}
	}
	p.count.Store(int64(len(p.known)))
}

// Unindexed returns an error if an index that a list selects by is unknown for an object of the namespace, or of any namespace if that is
// empty. It returns nil if the index is complete.
func (k *Kind) Unindexed(selector fields.Selector, namespace string) error {
	if selector == nil || k.Panics.count.Load() == 0 {
		return nil
	}
	k.Panics.mu.Lock()
	defer k.Panics.mu.Unlock()
	for _, requirement := range selector.Requirements() {
		for at, last := range k.Panics.known {
			if at.function == FunctionIndex && at.field == requirement.Field && (namespace == "" || namespace == at.object.Namespace) {
				const text = "list %s by field %q: the function of the index panicked for %s, so that it is not known whether the list has it: %v"
				return NewMistake(ReasonPanic, fmt.Errorf(text, //nolint:err113 // a message for users
					Print(k.GroupVersionKind), at.field, at.object, last.reason))
			}
		}
	}
	return nil
}

// guarded returns an index that has no value for an object for which its function panics.
func (k *Kind) guarded(field string, extract client.IndexerFunc) client.IndexerFunc {
	return func(object client.Object) (values []string) {
		if !k.Panics.Guard(FunctionIndex, field, object, func() { values = extract(object) }) {
			return nil
		}
		return values
	}
}
