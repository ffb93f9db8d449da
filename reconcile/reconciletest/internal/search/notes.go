package search

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/drift"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
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
	for _, b := range e.Stories {
		if more := len(b.Calls) - story.ManyCalls; more > 0 {
			add("not tried: %d of the calls of %s, those after the first %d", more, b.Name, story.ManyCalls)
		}
	}
	if e.missed > 0 {
		add("not tried: %d faults, as the request that each is about did not come again: the operator does not do the same in each run", e.missed)
	}
	if e.second > 0 {
		add("not tried: %d second faults of two, as after the first one the request that each is about does not come", e.second)
	}
	if e.draw.Unpaired > 0 {
		add("not tried: %d of the pairs of two writes that fail in one run; another %s draws others", e.draw.Unpaired, EnvSeed)
	}
	e.out.Notes = append(e.out.Notes, e.Notes()...)
	for _, note := range drift.Unedited(e.Judge) {
		add("not tried: edits of %s", note)
	}
	switch {
	case s.Change == nil:
		add("not tried: a change of the spec; set System.Change")
	case !slices.ContainsFunc(e.Stories, func(b *story.Story) bool { return len(b.Deleted) > 0 && b.Last() != description.StepDelete }):
		add("not tried: a prune, as System.Change takes nothing away that the operator deletes")
	}
	switch single := s.Singleton == nil && len(s.Owners) == 1 && e.Pair == nil; {
	case single && e.alone != nil:
		add("not tried: what owners have in common, as the API server refuses a second one: %v", e.alone)
	case single:
		add("not tried: what owners have in common, as there is one only; add another one to System.Owners")
	}
	for _, kind := range e.unmade() {
		add("not tried: children of the kind %s of System.Optional, as no run has made one", kind)
	}
	e.noteWhole()
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

// noteWhole notes the kinds that the caches keep entirely although main's may not.
func (e *explorer) noteWhole() {
	if len(e.Stories) == 0 || len(e.Stories[0].Whole) == 0 {
		return
	}
	e.out.Notes = append(e.out.Notes, fmt.Sprintf(
		"not tried: a cache that keeps only the metadata of objects of others of the kinds %s, as that of reconcile/operator does; "+
			"set System.Cache to what controller.CacheOptions returns, if main does", strings.Join(e.Stories[0].Whole, ", ")))
}

// empty returns the cached kinds that never had an object.
func (e *explorer) empty() []string {
	var out []string
	for _, b := range e.Stories {
		for _, kind := range b.Kinds {
			has := func(b *story.Story) bool { return slices.Contains(b.Present, kind) }
			if !slices.ContainsFunc(e.Stories, has) && !slices.Contains(out, kind) {
				out = append(out, kind)
			}
		}
	}
	return out
}

// unused returns the writes in the rules that no run without faults has sent.
func (e *explorer) unused() []string {
	sent := map[string]bool{}
	for _, b := range e.Stories {
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
	for _, b := range e.Stories {
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
