package memory

import (
	"sync"
	"time"
)

// Namespaces remembers the namespaces that are being deleted, so that nothing can be created in
// them. The zero value is ready for use, by several goroutines.
type Namespaces struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// Terminates notes a namespace in which a create was refused. It is not
// tried again before that time.
func (n *Namespaces) Terminates(namespace string, until time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.until == nil {
		n.until = map[string]time.Time{}
	}
	n.until[namespace] = until
}

// Wait returns how long nothing is to be created in a namespace, zero for a
// namespace that is not known to be deleted.
func (n *Namespaces) Wait(namespace string, now time.Time) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	wait := n.until[namespace].Sub(now)
	if wait <= 0 {
		delete(n.until, namespace)
		return 0
	}
	return wait
}

// Created notes that a namespace was created.
func (n *Namespaces) Created(namespace string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.until, namespace)
}
