package baseline

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// ManyCalls is the maximum number of calls of a baseline that fail.
const ManyCalls = 200

// Baseline is a run without faults whose calls will fail.
type Baseline struct {
	Name    string
	Steps   []description.Step
	Calls   []transport.Call
	Deleted map[string]bool
	Kinds   []string // of the caches
	Whole   []string // of these, the ones that main's cache may not keep entirely
	Moved   []string // of these, the ones with objects that the last step changed
	Present []string // kinds with an object
	State   cluster.State
	Reads   []string         // of the cache, by passes
	Live    []transport.Call // reads without a cache
	// Overlaps reports that passes may be concurrent: there are several controllers, or several owners and workers.
	Overlaps bool
}

// Of returns the baseline of a run without faults, except for its end state.
func Of(steps []description.Step, r *run.Run) *Baseline {
	s := &Baseline{
		Name: NameOf(steps), Steps: steps, Calls: r.Calls, Deleted: r.Deleted(), Kinds: r.Last.View.Names(), Reads: r.Last.View.Reads.Names(),
		Overlaps: r.Last.Scheduler.Overlaps(), Whole: r.Last.View.Whole(),
	}
	for _, gvk := range r.Cluster.Kinds() {
		s.Present = append(s.Present, gvk.Kind)
		if slices.Contains(s.Kinds, gvk.Kind) && !slices.Contains(s.Moved, gvk.Kind) && moved(r, gvk) {
			s.Moved = append(s.Moved, gvk.Kind)
		}
	}
	for _, c := range r.Calls {
		if !c.Request.IsWrite() && c.Request.Verb != "watch" {
			s.Live = append(s.Live, c)
		}
	}
	return s
}

// moved reports whether the last step has changed objects of a kind.
func moved(r *run.Run, gvk schema.GroupVersionKind) bool {
	now, err := r.Cluster.List(gvk)
	if err != nil || r.Before == nil {
		return false
	}
	before := r.Before[gvk]
	if len(now) != len(before) {
		return true
	}
	for key, u := range now {
		if was := before[key]; was == nil || was.GetUID() != u.GetUID() || was.GetResourceVersion() != u.GetResourceVersion() {
			return true
		}
	}
	return false
}

// NameOf returns the name of the baseline of some steps.
func NameOf(steps []description.Step) string {
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = string(s)
	}
	return strings.Join(names, "-")
}

// Last returns the last step.
func (s *Baseline) Last() description.Step { return s.Steps[len(s.Steps)-1] }

// Again reports whether the owners are deleted and recreated; such a baseline only defines an end state.
func (s *Baseline) Again() bool {
	return slices.Contains(s.Steps[:len(s.Steps)-1], description.StepDelete)
}

// Case is one run with a fault.
type Case struct {
	Name  string
	Base  *Baseline
	Spec  run.Spec
	Final description.Step
	// Act disturbs the cluster in steady state and checks the result; if nil, the case compares the end state.
	Act func(ctx context.Context, r *run.Run)
	// Always reports that the case is in every sample.
	Always bool
	// System is that of the exploration, or one with more owners.
	System *description.Prepared
}

// Varied returns a case with a variation in the last step of a baseline.
func (s *Baseline) Varied(name string, v run.Variation) Case {
	return Case{
		Name: s.Name + ": " + name, Base: s, Final: s.Last(),
		Spec: run.Spec{Steps: s.Steps, At: len(s.Steps) - 1, Variant: v},
	}
}
