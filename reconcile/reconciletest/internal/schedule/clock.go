package schedule

import (
	"sync"
	"time"
)

// Clock is a clock that the test sets.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows the time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now implements clock.PassiveClock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Since implements clock.PassiveClock.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// SetBack moves the clock backward.
func (c *Clock) SetBack(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(-by)
}

// Set moves the clock forward, and never backward.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.now) {
		c.now = t
	}
}
