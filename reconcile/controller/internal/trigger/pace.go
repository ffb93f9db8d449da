package trigger

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Pace limits how often events of other objects trigger passes of one owner. It is safe for concurrent use, with one pass per owner at a
// time. The zero value limits nothing.
type Pace struct {
	Interval time.Duration // between two passes; 0 limits nothing

	mu   sync.Mutex
	last map[types.NamespacedName]time.Time
}

// Start returns how long to defer the pass. It defers no pass of an edit, and none without an event: a retry or a requeue.
func (p *Pace) Start(owner types.NamespacedName, woken Trigger, known bool, now time.Time) time.Duration {
	if p.Interval <= 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	last, passed := p.last[owner]
	if rest := last.Add(p.Interval).Sub(now); passed && known && !woken.Edit && rest > 0 {
		return min(rest, p.Interval)
	}
	if p.last == nil {
		p.last = map[types.NamespacedName]time.Time{}
	}
	p.last[owner] = now
	return 0
}

// Forget drops the state of a deleted owner.
func (p *Pace) Forget(owner types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.last, owner)
}
