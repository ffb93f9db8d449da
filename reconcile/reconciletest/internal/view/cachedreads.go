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

// cachedReads are the reads of a cache that passes do. A case makes one of them fail; those of event handlers never do.
type cachedReads struct {
	mu     sync.Mutex
	inPass bool
	done   map[cachedRead]bool
	fail   string
	left   int // failures to come
	before string
	then   func()
	names  func(schema.GroupKind, types.NamespacedName) string // what stands for those that were drawn
}

// cachedRead is a read of one object or, without a name, of a list.
type cachedRead struct {
	kind schema.GroupKind
	key  types.NamespacedName
	list bool
}

// name is that of a read.
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

// read notes a read, and returns the error that a case has put in its way. Its name is made only where a case asks for one, so that
// what is measured is not this.
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

// Pass notes that a pass begins or ends.
func (r *cachedReads) Pass(begins bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inPass = begins
}

// Before has something happen once, before the next read of that name.
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

// Failing makes the next reads of that name fail.
func (r *cachedReads) Failing(name string, times int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail, r.left = name, times
}

// Names are the reads so far, sorted.
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
