package view

import (
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// cachedReads are the reads of a cache that passes do. A case makes one of them fail; those of event handlers never do.
type cachedReads struct {
	mu     sync.Mutex
	inPass bool
	done   map[string]bool
	fail   string
	left   int // failures to come
	before string
	then   func()
}

// read notes a read, and returns the error that a case has put in its way.
func (r *cachedReads) read(name string) error {
	name = strings.TrimSpace(name)
	r.interrupt(name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.inPass {
		return nil
	}
	if r.done == nil {
		r.done = map[string]bool{}
	}
	r.done[name] = true
	if name == r.fail && r.left > 0 {
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

func (r *cachedReads) interrupt(name string) {
	r.mu.Lock()
	then := r.then
	wanted := r.inPass && then != nil && name == r.before
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
	for name := range r.done {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
