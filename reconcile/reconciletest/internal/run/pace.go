package run

import (
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/schedule"
)

const (
	// Quiet is the time without a change after which the cluster is in steady state: longer than the engine's retry delay of a minute after a
	// permanent rejection.
	Quiet = 10 * time.Minute
	// MaxIdle is the maximum number of consecutive passes without a change. More are too frequent if they come faster than hotInterval, else
	// they are a poll.
	MaxIdle     = 30
	hotInterval = 500 * time.Millisecond
	// PollInterval is the minimum time after which a change counts as caused by time.
	PollInterval = time.Second
	// maxFar is the maximum number of scheduled passes beyond Quiet that run without a change.
	maxFar = 3
	// MaxFirings is the number of time-driven changes after which a system counts as one with a schedule, which never comes to rest.
	MaxFirings = 8
)

// pace decides whether a cluster is in steady state.
type pace struct {
	passes           int
	changed          time.Time              // of the last change
	idle             int                    // consecutive passes without a change
	idleTotal        int                    // all passes without a change
	far              int                    // jumps beyond Quiet since the last change
	jumped           bool                   // the clock has moved by at least PollInterval since the last change
	scheduledChanges int                    // changes after such a jump
	since            map[schedule.Item]bool // items of the idle passes
}

// over reports whether a pass scheduled for that time need not be run.
func (p *pace) over(due time.Time, w *cluster.Cluster) bool {
	if w.System.Horizon > 0 {
		if w.Refusing {
			return p.idle >= MaxIdle // time continues when the rejection ends
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

// jump records that the clock will move.
func (p *pace) jump(from, to time.Time) {
	if to.Sub(p.changed) > Quiet {
		p.far++
	}
	p.jumped = p.jumped || to.Sub(from) >= PollInterval
}

// note records a pass.
func (p *pace) note(item schedule.Item, now time.Time, changed bool) {
	p.passes++
	if !changed {
		if p.since == nil {
			p.since = map[schedule.Item]bool{}
		}
		p.since[item] = true
		p.idle++
		p.idleTotal++
		return
	}
	if p.jumped {
		p.scheduledChanges++
	}
	p.changed, p.idle, p.far, p.jumped = now, 0, 0, false
	clear(p.since)
}

// endless reports whether there were more passes than a run may have. Idle passes count less if time has to pass.
func (p *pace) endless(s description.Prepared) bool {
	if s.Horizon > 0 {
		return p.passes-p.idleTotal >= s.MaxPasses*MaxFirings || p.idleTotal >= s.MaxPasses*MaxIdle
	}
	return p.passes >= s.MaxPasses && !p.perpetual()
}

// perpetual reports whether the system repeatedly changes something by time.
func (p *pace) perpetual() bool { return p.scheduledChanges >= MaxFirings }

// hot reports whether idle passes come too fast to be a poll of each owner of each controller.
func (p *pace) hot(now time.Time) bool {
	return p.idle >= MaxIdle && now.Sub(p.changed)*time.Duration(len(p.since)) < time.Duration(p.idle)*hotInterval
}
