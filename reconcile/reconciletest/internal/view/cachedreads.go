package view

import (
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// cachedReads records the cached reads of passes. A case makes one of them fail; those of event handlers never fail.
type cachedReads struct {
	mu     sync.Mutex
	inPass bool
	done   map[cachedRead]bool
	fail   string
	left   int // remaining failures
	before string
	then   func()
	names  func(schema.GroupKind, types.NamespacedName) string // returns canonical names
}

// cachedRead is a read of one object or, without a name, of a list.
type cachedRead struct {
	kind schema.GroupKind
	key  types.NamespacedName
	list bool
}

// name returns the name of a read.
func (r *cachedReads) name(c cachedRead) string {
	if c.list {
		return strings.TrimSpace("list " + c.kind.String() + " " + c.key.Namespace)
	}
	key := c.key
	if r.names != nil {
		key.Name = r.names(c.kind, key)
	}
	return "get " + objects.Name(c.kind.WithVersion(""), key)
}

// read records a read and returns its injected error. The name is computed only if a case needs it, so that it does not affect
// measurements.
func (r *cachedReads) read(one cachedRead) error {
	r.interrupt(one)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.inPass {
		return nil
	}
	if r.done == nil {
		r.done = map[cachedRead]bool{}
	}
	r.done[one] = true
	if r.left > 0 && r.name(one) == r.fail {
		r.left--
		return apierrors.NewInternalError(transport.ErrRefused)
	}
	return nil
}

// Pass records that a pass begins or ends.
func (r *cachedReads) Pass(begins bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inPass = begins
}

// Before calls then once, before the next read with the name.
func (r *cachedReads) Before(name string, then func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before, r.then = name, then
}

func (r *cachedReads) interrupt(one cachedRead) {
	r.mu.Lock()
	then := r.then
	wanted := r.inPass && then != nil && r.name(one) == r.before
	if wanted {
		r.then = nil
	}
	r.mu.Unlock()
	if wanted {
		then()
	}
}

// Failing makes the next reads with the name fail.
func (r *cachedReads) Failing(name string, times int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail, r.left = name, times
}

// Names returns the reads so far, sorted.
func (r *cachedReads) Names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make([]string, 0, len(r.done))
	for one := range r.done {
		names = append(names, r.name(one))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
