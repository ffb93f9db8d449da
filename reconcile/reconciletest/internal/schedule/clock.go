package schedule

import (
	"sync"
	"time"
)

// Clock shows the time that the test has set.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock is a clock that shows the time until it is set.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now implements clock.PassiveClock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Since implements clock.PassiveClock.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// SetBack moves the clock backward, as somebody who corrects it does.
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
