package search

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/drift"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
)

// accept removes the accepted findings.
func (e *explorer) accept() {
	e.out.Findings = slices.DeleteFunc(e.out.Findings, func(f finding.Finding) bool {
		n := slices.IndexFunc(e.System.Accepted, func(a finding.Acceptance) bool { return finding.Accepts(a, f) })
		if n >= 0 {
			note := fmt.Sprintf("accepted, %s: %s", e.System.Accepted[n].Reason, e.System.Accepted[n].About)
			if !slices.Contains(e.out.Notes, note) {
				e.out.Notes = append(e.out.Notes, note)
			}
		}
		return n >= 0
	})
}

// notes adds notes about cases that were not tried, and other observations.
func (e *explorer) notes() {
	s, add := e.System, func(format string, args ...any) { e.out.Notes = append(e.out.Notes, fmt.Sprintf(format, args...)) }
	for _, b := range e.Baselines {
		if more := len(b.Calls) - baseline.ManyCalls; more > 0 {
			add("not tried: %d of the calls of %s, those after the first %d", more, b.Name, baseline.ManyCalls)
		}
	}
	if e.missed > 0 {
		add("not tried: %d faults, because their request was not sent again: the operator does not send the same requests in each run", e.missed)
	}
	if e.second > 0 {
		add("not tried: %d second faults of two, because after the first one their request is not sent", e.second)
	}
	if e.draw.Unpaired > 0 {
		add("not tried: %d of the pairs of two writes that fail in one run; another %s samples others", e.draw.Unpaired, EnvSeed)
	}
	e.out.Notes = append(e.out.Notes, e.Notes()...)
	for _, note := range drift.Unedited(e.Checker) {
		add("not tried: edits of %s", note)
	}
	switch {
	case s.Change == nil:
		add("not tried: a change of the spec; set System.Change")
	case !slices.ContainsFunc(e.Baselines, func(b *baseline.Baseline) bool { return len(b.Deleted) > 0 && b.Last() != description.StepDelete }):
		add("not tried: a prune, because System.Change removes nothing that the operator deletes")
	}
	switch single := s.Singleton == nil && len(s.Owners) == 1 && e.Pair == nil; {
	case single && e.alone != nil:
		add("not tried: several owners, because the API server rejects a second one: %v", e.alone)
	case single:
		add("not tried: several owners, because System.Owners has only one; add another one")
	}
	for _, kind := range e.unmade() {
		add("not tried: children of the kind %s of System.Optional, because no run creates one", kind)
	}
	e.noteWhole()
	for _, kind := range e.empty() {
		add("not tried: objects of the kind %s, which the operator reads from its cache, because no run has one", kind)
	}
	for _, right := range e.unused() {
		add("not tried: %s, which System.Rules allow, because no run sends it", right)
	}
	if len(s.StandIns) == 0 {
		add("not tried: children that become ready or fail; set System.StandIns")
	}
	if e.out.Horizon > 0 {
		add("the system acts on a schedule: each step lasts %s (System.Horizon); not tried: edits and deletes by others, permanent refusals", e.out.Horizon)
	}
}

// noteWhole notes the kinds that the caches keep entirely although main's may not.
func (e *explorer) noteWhole() {
	if len(e.Baselines) == 0 || len(e.Baselines[0].Whole) == 0 {
		return
	}
	e.out.Notes = append(e.out.Notes, fmt.Sprintf(
		"not tried: a cache that keeps only the metadata of other owners' objects of the kinds %s, as reconcile/operator configures it; "+
			"set System.Cache to what controller.CacheOptions returns, if main does", strings.Join(e.Baselines[0].Whole, ", ")))
}

// empty returns the cached kinds that never had an object.
func (e *explorer) empty() []string {
	var out []string
	for _, b := range e.Baselines {
		for _, kind := range b.Kinds {
			has := func(b *baseline.Baseline) bool { return slices.Contains(b.Present, kind) }
			if !slices.ContainsFunc(e.Baselines, has) && !slices.Contains(out, kind) {
				out = append(out, kind)
			}
		}
	}
	return out
}

// unused returns the writes in the rules that no run without faults has sent.
func (e *explorer) unused() []string {
	sent := map[string]bool{}
	for _, b := range e.Baselines {
		for _, c := range b.Calls {
			sent[rights.VerbOf(c.Request)+" "+rights.ResourceOf(c.Request)+"."+c.Request.Group] = true
			if c.Request.Verb == "apply" && c.Before == nil && c.After != nil { // an API server checks both permissions
				sent["create "+rights.ResourceOf(c.Request)+"."+c.Request.Group] = true
			}
		}
	}
	var out []string
	for _, rule := range e.System.Rules {
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

// unmade returns the kinds of System.Optional without an object in any run.
func (e *explorer) unmade() []schema.GroupKind {
	made := map[schema.GroupKind]bool{}
	for _, b := range e.Baselines {
		for _, c := range b.Calls {
			made[c.GVK.GroupKind()] = made[c.GVK.GroupKind()] || c.Changed && c.After != nil
		}
	}
	var out []schema.GroupKind
	for _, kind := range e.System.Optional {
		if !made[kind] {
			out = append(out, kind)
		}
	}
	return out
}
