package search

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// compare holds the end of a run against the end that its last step has to have.
func (e *explorer) compare(name string, last description.Step, got world.State) bool {
	want := e.ends[last]
	if want == nil {
		return false // the run without faults has failed, which is a finding already
	}
	return e.matches(name, want.state, got)
}

// matches compares the end of a run with what it has to be.
func (e *explorer) matches(name string, want, got world.State) bool {
	expected := maps.Clone(want)
	e.drawn.mask(got)
	for _, object := range e.outliving(expected, got) { // there or not, as it comes
		if got[object] == nil || expected[object] == nil {
			delete(got, object)
			delete(expected, object)
		}
	}
	var extra []string
	for object := range got {
		if expected[object] == nil {
			extra = append(extra, object)
		}
	}
	slices.Sort(extra)
	if len(extra) > 0 {
		e.find(name, finding.CheckOrphan, "the run without faults ends without %s", strings.Join(extra, ", "))
		for _, object := range extra {
			delete(got, object)
		}
	}
	if diff := differences(expected, got); len(diff) > 0 {
		e.find(name, finding.CheckState, "not the end of the run without faults:\n%s", printedDifferences(diff))
		return false
	}
	return len(extra) == 0
}

// outlives reports whether an object may be there when nobody asks for it any more.
func (e *explorer) outlives(object string) bool {
	return slices.ContainsFunc(e.system.Outlives, func(pattern string) bool {
		matches, err := path.Match(pattern, object)
		return object == pattern || err == nil && matches
	})
}

// outliving are the objects of either state that may be there or not: those that the system names, and Jobs that are cleaned up
// some time after they are done.
func (e *explorer) outliving(want, got world.State) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(union(want, got))), func(object string) bool {
		return !e.outlives(object) && !shortLived(want[object]) && !shortLived(got[object])
	})
}

// shortLived reports whether an object is a Job with a time to live.
func shortLived(content map[string]any) bool {
	spec, _ := content["spec"].(map[string]any)
	return content["kind"] == "Job" && spec["ttlSecondsAfterFinished"] != nil
}

// checkOrphans looks for what has outlived the owners in a run without faults: whatever was not there before.
func (e *explorer) checkOrphans(ctx context.Context, name string, got world.State) {
	empty, err := world.New(ctx, e.system, "")
	if err == nil {
		err = empty.Turn(ctx)
	}
	if err != nil {
		e.find(name, finding.CheckRun, "%v", err)
		return
	}
	before, err := empty.State()
	if err != nil {
		e.find(name, finding.CheckRun, "%v", err)
		return
	}
	for _, object := range slices.Sorted(maps.Keys(got)) {
		if before[object] == nil && !e.outlives(object) {
			e.find(name, finding.CheckOrphan, "%s outlives its owner; if it is meant to, add %q to System.Outlives", object, object)
		}
	}
}

// checkQuiet lets every owner have another pass, and with fresh set in a new instance: nothing may change any more, and
// the second pass of a life must not even try.
func (e *explorer) checkQuiet(ctx context.Context, name string, r *run.Run, fresh bool) {
	before, err := r.World.Versions()
	if err == nil && fresh {
		r.Last.End()
		if r.Last, err = run.Start(ctx, r.World, run.Variation{}, &r.Events); err == nil {
			err = r.Last.Settle(ctx)
		}
	}
	if err != nil {
		e.find(name, finding.CheckRest, "after the end: %v", err)
		return
	}
	sent, told := len(r.Last.Wire.Calls()), r.Events.All()
	r.Last.View.Resync()
	if err := r.Last.Settle(ctx); err != nil {
		e.find(name, finding.CheckRest, "after the end: %v", err)
		return
	}
	var writes []string
	for _, c := range r.Last.Wire.Calls()[sent:] {
		if c.Request.IsWrite() {
			writes = append(writes, c.Request.String())
		}
	}
	if len(writes) > 0 {
		e.find(name, finding.CheckQuiet, "writes although nothing has changed: %s", strings.Join(writes, ", "))
		return
	}
	for _, event := range r.Events.All()[len(told):] {
		if slices.ContainsFunc(told, func(before run.Event) bool { return run.Repeats(event, before) }) {
			e.find(name, finding.CheckQuiet, "announces again although nothing has changed: %s %s: %s", event.Object, event.Reason, event.Message)
			return
		}
	}
	after, err := r.World.Versions()
	if err != nil {
		e.find(name, finding.CheckRun, "%v", err)
		return
	}
	if !maps.Equal(before, after) {
		e.find(name, finding.CheckQuiet, "a restart changes what is stored: %s", strings.Join(changedBy(r.Last.Wire.Calls()), ", "))
	}
}

func changedBy(calls []transport.Call) []string {
	var out []string
	for _, c := range calls {
		if c.Changed {
			out = append(out, c.Request.String())
		}
	}
	return out
}

// checkDeletes compares what was deleted with what the run without faults deletes. A case with one step more may delete
// what the run of that step deletes, too. A singleton may also delete what is not there in the end: others, who own it, may
// have deleted it before the operator could, and a stale cache may have made it come back.
func (e *explorer) checkDeletes(c testCase, r *run.Run) {
	may := maps.Clone(c.base.deleted)
	if c.final != c.base.last() {
		for _, b := range e.plots {
			if b.last() == c.final {
				maps.Copy(may, b.deleted)
			}
		}
	}
	for _, object := range slices.Sorted(maps.Keys(r.Deleted())) {
		if !may[object] && (e.system.Singleton == nil || !e.absent(c.final, object)) {
			e.find(c.name, finding.CheckDeletes, "deletes %s, which the run without faults leaves alone", object)
		}
	}
}

// absent reports that an object is not there at the end of the runs without faults.
func (e *explorer) absent(last description.Step, object string) bool {
	end := e.ends[last]
	return end != nil && end.state[object] == nil
}

// checkForeign looks whether the object that took the place of another one is still there.
func (e *explorer) checkForeign(_ context.Context, c testCase, r *run.Run) {
	if !r.Struck {
		return
	}
	i := slices.IndexFunc(r.Calls, func(sent transport.Call) bool { return sent.String() == c.plot.Variant.Inject[0].Call })
	if i < 0 || r.Calls[i].Before == nil {
		return
	}
	hit := r.Calls[i]
	all, err := r.World.List(hit.GVK)
	if err != nil {
		e.find(c.name, finding.CheckRun, "%v", err)
		return
	}
	u := all[hit.Key]
	if u == nil || u.GetAnnotations()[transport.Foreign] != "true" || u.GetDeletionTimestamp() != nil {
		e.find(c.name, finding.CheckForeign, "%s was replaced by an object of somebody else just before it was deleted, "+
			"and that one was deleted instead: a delete needs the UID as a precondition", objects.Name(hit.GVK, hit.Key))
	}
}

// checkStatus looks for an owner that calls itself ready for its spec and has children written for it afterwards,
// although nobody else has changed anything in between.
func (e *explorer) checkStatus(name string, r *run.Run) {
	if r.World.Fake == nil || e.system.Singleton != nil {
		return // nobody counts what others change, or nobody has a status
	}
	owners := map[string]bool{}
	for _, owner := range e.system.Owners {
		if gvk, err := apiutil.GVKForObject(owner, r.World.Scheme); err == nil {
			owners[gvk.GroupKind().String()] = true
		}
	}
	claimed := map[types.UID]transport.Call{}
	for _, c := range r.Calls {
		if !c.Changed {
			continue
		}
		if owners[c.GVK.GroupKind().String()] {
			if c.After != nil && world.ClaimsReady(c.After) {
				if _, known := claimed[c.After.GetUID()]; !known {
					claimed[c.After.GetUID()] = c
				}
			} else if c.After != nil {
				delete(claimed, c.After.GetUID())
			}
			continue
		}
		for _, claim := range e.concerned(claimed, c) {
			if c.At.Sub(claim.At) < run.PollInterval && !r.Last.ChangedOutside(claim.Pass, c.Pass) {
				e.find(name, finding.CheckStatus, "%s calls itself ready for its spec, and only then comes %s",
					objects.Name(claim.GVK, claim.Key), c.Request)
				return
			}
		}
	}
}

// concerned are the claims that a write of a child speaks against: that of its owner, and for a child that names none of
// several owners the last one, once all of them have called themselves ready.
func (e *explorer) concerned(claimed map[types.UID]transport.Call, c transport.Call) []transport.Call {
	all := slices.SortedFunc(maps.Values(claimed), func(a, b transport.Call) int { return a.Pass - b.Pass })
	child := cmp.Or(c.After, c.Before)
	switch {
	case len(e.system.Owners) == 1:
		return all
	case child != nil && len(child.GetOwnerReferences()) > 0:
		return slices.DeleteFunc(all, func(claim transport.Call) bool {
			return !slices.ContainsFunc(child.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == claim.After.GetUID() })
		})
	case len(all) < len(e.system.Owners):
		return nil
	}
	return all[len(all)-1:]
}
