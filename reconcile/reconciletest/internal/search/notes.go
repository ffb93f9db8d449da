package search

import (
	"fmt"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
)

// accept takes out what the system accepts.
func (e *explorer) accept() {
	e.out.Findings = slices.DeleteFunc(e.out.Findings, func(f finding.Finding) bool {
		n := slices.IndexFunc(e.system.Accepted, func(a finding.Acceptance) bool { return finding.Accepts(a, f) })
		if n >= 0 {
			note := fmt.Sprintf("accepted, %s: %s", e.system.Accepted[n].Reason, e.system.Accepted[n].About)
			if !slices.Contains(e.out.Notes, note) {
				e.out.Notes = append(e.out.Notes, note)
			}
		}
		return n >= 0
	})
}

// notes are what the exploration did not try.
func (e *explorer) notes() {
	s, add := e.system, func(format string, args ...any) { e.out.Notes = append(e.out.Notes, fmt.Sprintf(format, args...)) }
	for _, b := range e.plots {
		if more := len(b.calls) - manyCalls; more > 0 {
			add("not tried: %d of the calls of %s, those after the first %d", more, b.name, manyCalls)
		}
	}
	if e.missed > 0 {
		add("not tried: %d faults, as the request that each is about did not come again: the operator does not do the same in each run", e.missed)
	}
	if e.second > 0 {
		add("not tried: %d second faults of two, as after the first one the request that each is about does not come", e.second)
	}
	if e.unpaired > 0 {
		add("not tried: %d of the pairs of two writes that fail in one run; another %s draws others", e.unpaired, EnvSeed)
	}
	for _, note := range e.unedited() {
		add("not tried: edits of %s", note)
	}
	switch {
	case s.Change == nil:
		add("not tried: a change of the spec; set System.Change")
	case !slices.ContainsFunc(e.plots, func(b *baseline) bool { return len(b.deleted) > 0 && b.last() != description.StepDelete }):
		add("not tried: a prune, as System.Change takes nothing away that the operator deletes")
	}
	if s.Singleton == nil && len(s.Owners) == 1 && e.pair == nil {
		add("not tried: what owners have in common, as there is one only; add another one to System.Owners")
	}
	for _, kind := range e.unmade() {
		add("not tried: children of the kind %s of System.Optional, as no run has made one", kind)
	}
	for _, kind := range e.empty() {
		add("not tried: objects of the kind %s, which the operator reads from its cache, as no run has one", kind)
	}
	for _, right := range e.unused() {
		add("not tried: %s, which System.Rules allow, as no run sends it", right)
	}
	if len(s.StandIns) == 0 {
		add("not tried: children that become ready or fail; set System.StandIns")
	}
	if e.out.Horizon > 0 {
		add("it acts at times of its own: each step lasts %s (System.Horizon); not tried: edits and deletes by others, refusals that last", e.out.Horizon)
	}
}

// unedited are the objects of which others edit some fields only.
func (e *explorer) unedited() []string {
	if !e.disturbs() {
		return nil
	}
	var out []string
	note := func(t target, content map[string]any) {
		if _, left := objects.Leaves(content); left > 0 {
			out = append(out, fmt.Sprintf("%d of the %d fields of %s", left, left+objects.MaxEdits, t))
		}
	}
	for _, t := range e.children() {
		note(t, t.sent)
	}
	for _, t := range e.inputs() {
		if items, err := e.probe.List(t.gvk); err == nil && items[t.key] != nil {
			note(t, items[t.key].Object)
		}
	}
	return out
}

// empty are the kinds of the caches of which there was never an object.
func (e *explorer) empty() []string {
	var out []string
	for _, b := range e.plots {
		for _, kind := range b.kinds {
			has := func(b *baseline) bool { return slices.Contains(b.present, kind) }
			if !slices.ContainsFunc(e.plots, has) && !slices.Contains(out, kind) {
				out = append(out, kind)
			}
		}
	}
	return out
}

// unused are the writes that the rules name and no run without faults has sent.
func (e *explorer) unused() []string {
	sent := map[string]bool{}
	for _, b := range e.plots {
		for _, c := range b.calls {
			sent[rights.VerbOf(c.Request)+" "+rights.ResourceOf(c.Request)+"."+c.Request.Group] = true
		}
	}
	var out []string
	for _, rule := range e.system.Rules {
		for _, verb := range rule.Verbs {
			for _, resource := range rule.Resources {
				used := slices.ContainsFunc(rule.APIGroups, func(group string) bool { return sent[verb+" "+resource+"."+group] })
				if writes := []string{"create", "update", "patch", "delete", "deletecollection"}; !used && slices.Contains(writes, verb) && resource != "*" {
					out = append(out, verb+" "+resource)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
