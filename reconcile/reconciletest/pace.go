package reconciletest

import "time"

const (
	// quiet is how long nothing may change until the world counts as at rest: longer than the waits of the engine, which
	// retries what was refused for good after a minute.
	quiet = 10 * time.Minute
	// maxIdle is how many passes in a row may change nothing: hot when they come faster than hotInterval, else a poll.
	maxIdle     = 30
	hotInterval = 500 * time.Millisecond
	// pollInterval is the least time after which a change counts as one that time has made.
	pollInterval = time.Second
	// maxFar is how many planned passes beyond quiet are reached although each changes nothing.
	maxFar = 3
	// maxFirings is how many changes at times of their own make a system one that never rests by itself: a schedule.
	maxFirings = 8
)

// pace decides when a world is at rest.
type pace struct {
	passes   int
	changed  time.Time // of the last change
	idle     int       // passes in a row after which the world was as before
	idleEver int       // all passes after which it was
	far      int       // jumps beyond quiet since the last change
	jumped   bool      // the clock has moved by at least pollInterval since the last change
	firings  int       // changes after such a move
}

// over reports whether what is planned at that time needs not be waited for.
func (p *pace) over(due time.Time, w *world) bool {
	if w.system.Horizon > 0 {
		if w.refusing {
			return p.idle >= maxIdle // time goes on when the refusal is lifted
		}
		if !due.After(w.until) {
			return false
		}
		if w.clock.Now().Before(w.until) {
			w.clock.Set(w.until) // all runs end a step at the same time
		}
		return true
	}
	if w.perpetual || p.idle >= maxIdle {
		return true
	}
	return due.Sub(p.changed) > quiet && p.far >= maxFar
}

// jump notes that the clock is to move.
func (p *pace) jump(from, to time.Time) {
	if to.Sub(p.changed) > quiet {
		p.far++
	}
	p.jumped = p.jumped || to.Sub(from) >= pollInterval
}

// note counts a pass.
func (p *pace) note(now time.Time, changed bool) {
	p.passes++
	if !changed {
		p.idle++
		p.idleEver++
		return
	}
	if p.jumped {
		p.firings++
	}
	p.changed, p.idle, p.far, p.jumped = now, 0, 0, false
}

// endless reports more passes than a run may have; those that change nothing count little where time has to pass.
func (p *pace) endless(s prepared) bool {
	if s.Horizon > 0 {
		return p.passes-p.idleEver >= s.MaxPasses*maxFirings || p.idleEver >= s.MaxPasses*maxIdle
	}
	return p.passes >= s.MaxPasses && !p.perpetual()
}

// perpetual reports that the system changes something at times of its own, again and again.
func (p *pace) perpetual() bool { return p.firings >= maxFirings }

// hot reports passes that change nothing and come too fast to be a poll.
func (p *pace) hot(now time.Time) bool {
	return p.idle >= maxIdle && now.Sub(p.changed) < time.Duration(p.idle)*hotInterval
}
