package memory

import (
	"sync"
	"time"
)

// Namespaces remembers the namespaces that are being deleted, in which no object can be created. The zero value is ready for use. It is
// safe for concurrent use.
type Namespaces struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// Terminates notes that a create in the namespace was refused. The next attempt is not before until.
func (n *Namespaces) Terminates(namespace string, until time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.until == nil {
		n.until = map[string]time.Time{}
	}
	n.until[namespace] = until
}

// Wait returns how long no object should be created in the namespace, zero if it is not known to be deleted.
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

// Retry ends all waits.
func (n *Namespaces) Retry() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.until = nil
}
