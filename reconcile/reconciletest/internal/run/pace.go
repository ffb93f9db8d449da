package run

import (
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/schedule"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

const (
	// Quiet is how long nothing may change until the world counts as at rest: longer than the waits of the engine, which
	// retries what was refused for good after a minute.
	Quiet = 10 * time.Minute
	// MaxIdle is how many passes in a row may change nothing: hot when they come faster than hotInterval, else a poll.
	MaxIdle     = 30
	hotInterval = 500 * time.Millisecond
	// PollInterval is the least time after which a change counts as one that time has made.
	PollInterval = time.Second
	// maxFar is how many planned passes beyond quiet are reached although each changes nothing.
	maxFar = 3
	// MaxFirings is how many changes at times of their own make a system one that never rests by itself: a schedule.
	MaxFirings = 8
)

// pace decides when a world is at rest.
type pace struct {
	passes   int
	changed  time.Time              // of the last change
	idle     int                    // passes in a row after which the world was as before
	idleEver int                    // all passes after which it was
	far      int                    // jumps beyond quiet since the last change
	jumped   bool                   // the clock has moved by at least pollInterval since the last change
	firings  int                    // changes after such a move
	since    map[schedule.Item]bool // what the idle passes were of
}

// over reports whether what is planned at that time needs not be waited for.
func (p *pace) over(due time.Time, w *world.World) bool {
	if w.System.Horizon > 0 {
		if w.Refusing {
			return p.idle >= MaxIdle // time goes on when the refusal is lifted
		}
		if !due.After(w.Until) {
			return false
		}
		if w.Clock.Now().Before(w.Until) {
			w.Clock.Set(w.Until) // all runs end a step at the same time
		}
		return true
	}
	if w.Perpetual || p.idle >= MaxIdle {
		return true
	}
	return due.Sub(p.changed) > Quiet && p.far >= maxFar
}

// jump notes that the clock is to move.
func (p *pace) jump(from, to time.Time) {
	if to.Sub(p.changed) > Quiet {
		p.far++
	}
	p.jumped = p.jumped || to.Sub(from) >= PollInterval
}

// note counts a pass.
func (p *pace) note(item schedule.Item, now time.Time, changed bool) {
	p.passes++
	if !changed {
		if p.since == nil {
			p.since = map[schedule.Item]bool{}
		}
		p.since[item] = true
		p.idle++
		p.idleEver++
		return
	}
	if p.jumped {
		p.firings++
	}
	p.changed, p.idle, p.far, p.jumped = now, 0, 0, false
	clear(p.since)
}

// endless reports more passes than a run may have; those that change nothing count little where time has to pass.
func (p *pace) endless(s description.Prepared) bool {
	if s.Horizon > 0 {
		return p.passes-p.idleEver >= s.MaxPasses*MaxFirings || p.idleEver >= s.MaxPasses*MaxIdle
	}
	return p.passes >= s.MaxPasses && !p.perpetual()
}

// perpetual reports that the system changes something at times of its own, again and again.
func (p *pace) perpetual() bool { return p.firings >= MaxFirings }

// hot reports passes that change nothing and come too fast to be a poll of each owner of each controller.
func (p *pace) hot(now time.Time) bool {
	return p.idle >= MaxIdle && now.Sub(p.changed)*time.Duration(len(p.since)) < time.Duration(p.idle)*hotInterval
}
