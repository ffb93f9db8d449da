package checker

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/difference"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// Compare compares the end state of a run with that of its last step.
func (j *Checker) Compare(name string, last description.Step, got cluster.State) bool {
	want := j.ends[last]
	if want == nil {
		return false // the run without faults has failed, which is a finding already
	}
	return j.Matches(name, want, got)
}

// Matches compares the end state of a run with the expected one.
func (j *Checker) Matches(name string, want, got cluster.State) bool {
	expected := maps.Clone(want)
	j.Random.Mask(got)
	for _, object := range j.outliving(expected, got) { // present or not
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
		j.Find(name, finding.CheckOrphan, "the run without faults ends without %s", strings.Join(extra, ", "))
		for _, object := range extra {
			delete(got, object)
		}
	}
	if diff := difference.Between(expected, got); len(diff) > 0 {
		j.Find(name, finding.CheckState, "the end differs from the run without faults:\n%s", difference.Print(diff))
		return false
	}
	return len(extra) == 0
}

// outliving returns the objects of either state that may or may not exist: those in System.Outlives, and Jobs that are cleaned up after
// completion.
func (j *Checker) outliving(want, got cluster.State) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(difference.Union(want, got))), func(object string) bool {
		return !j.System.MayOutlive(object) && !shortLived(want[object]) && !shortLived(got[object])
	})
}

// shortLived reports whether an object is a Job with a TTL.
func shortLived(content map[string]any) bool {
	spec, _ := content["spec"].(map[string]any)
	return content["kind"] == "Job" && spec["ttlSecondsAfterFinished"] != nil
}

// CheckOrphans finds objects that remain after the deletion of the owners in a run without faults and did not exist before.
func (j *Checker) CheckOrphans(ctx context.Context, name string, got cluster.State) {
	empty, err := cluster.New(ctx, j.System, "")
	if err == nil {
		err = empty.Turn(ctx)
	}
	if err != nil {
		j.Find(name, finding.CheckRun, "%v", err)
		return
	}
	before, err := empty.State()
	if err != nil {
		j.Find(name, finding.CheckRun, "%v", err)
		return
	}
	for _, object := range slices.Sorted(maps.Keys(got)) {
		if before[object] == nil && !j.System.MayOutlive(object) {
			j.Find(name, finding.CheckOrphan, "%s outlives its owner; if it is meant to, add %q to System.Outlives", object, object)
		}
	}
}

// CheckQuiet runs another pass of every owner, with fresh in a new instance: nothing may change, and the second pass of an instance must
// send no write. Repeated applies without a change in a run without a fault are only a note, because they cost requests but do no harm.
func (j *Checker) CheckQuiet(ctx context.Context, name string, r *run.Run, fresh bool) {
	before, err := r.Cluster.Versions()
	if err == nil && fresh {
		r.Last.End()
		if r.Last, err = run.Start(ctx, r.Cluster, run.Variation{}, &r.Events); err == nil {
			err = r.Last.Settle(ctx)
		}
	}
	if err != nil {
		j.Find(name, finding.CheckRest, "after the run: %v", err)
		return
	}
	sent, events := len(r.Last.Wire.Calls()), r.Events.All()
	r.Last.View.Resync()
	if err := r.Last.Settle(ctx); err != nil {
		j.Find(name, finding.CheckRest, "after the run: %v", err)
		return
	}
	writes, applies := writesOf(r.Last.Wire.Calls()[sent:])
	if fresh && applies {
		j.applies.Store(true)
		j.Note("to check: every pass sends an apply that changes nothing: %s", strings.Join(writes, ", "))
	}
	if len(writes) > 0 && (!applies || !j.applies.Load()) {
		j.Find(name, finding.CheckQuiet, "writes although nothing has changed: %s", strings.Join(writes, ", "))
		return
	}
	for _, event := range r.Events.All()[len(events):] {
		if slices.ContainsFunc(events, func(before run.Event) bool { return run.Repeats(event, before) }) {
			j.Find(name, finding.CheckQuiet, "sends an event again although nothing has changed: %s %s: %s", event.Object, event.Reason, event.Message)
			return
		}
	}
	after, err := r.Cluster.Versions()
	if err != nil {
		j.Find(name, finding.CheckRun, "%v", err)
		return
	}
	if !maps.Equal(before, after) {
		j.Find(name, finding.CheckQuiet, "a restart changes what is stored: %s", strings.Join(transport.ChangedBy(r.Last.Wire.Calls()), ", "))
	}
}

// writesOf returns the writes among the calls, and whether all are applies without a change.
func writesOf(calls []transport.Call) (writes []string, applies bool) {
	applies = true
	for _, c := range calls {
		if c.Request.IsWrite() {
			writes = append(writes, c.Request.String())
			applies = applies && c.Request.Verb == "apply" && !c.Changed && c.Err == nil
		}
	}
	return writes, applies && len(writes) > 0
}

// CheckDeletes compares the deletions with those of the run without faults. A case with one more step may also delete the objects that
// the run of that step deletes. A singleton may also delete objects that are absent in the end: their owners may have deleted them before
// the operator could, and a stale cache may have made it recreate them.
func (j *Checker) CheckDeletes(c baseline.Case, r *run.Run) {
	may := maps.Clone(c.Base.Deleted)
	if c.Final != c.Base.Last() {
		for _, b := range j.Baselines {
			if b.Last() == c.Final {
				maps.Copy(may, b.Deleted)
			}
		}
	}
	for _, object := range slices.Sorted(maps.Keys(r.Deleted())) {
		if !may[object] && (j.System.Singleton == nil || !j.absent(c.Final, object)) {
			j.Find(c.Name, finding.CheckDeletes, "deletes %s, which the run without faults does not delete", object)
		}
	}
}

// absent reports whether an object does not exist at the end of the runs without faults.
func (j *Checker) absent(last description.Step, object string) bool {
	end := j.ends[last]
	return end != nil && end[object] == nil
}

// CheckForeign checks that the object that replaced another one still exists.
func (j *Checker) CheckForeign(_ context.Context, c baseline.Case, r *run.Run) {
	if !r.FaultHappened {
		return
	}
	i := slices.IndexFunc(r.Calls, func(sent transport.Call) bool { return sent.String() == c.Spec.Variant.Inject[0].Call })
	if i < 0 || r.Calls[i].Before == nil {
		return
	}
	hit := r.Calls[i]
	all, err := r.Cluster.List(hit.GVK)
	if err != nil {
		j.Find(c.Name, finding.CheckRun, "%v", err)
		return
	}
	u := all[hit.Key]
	if u == nil || u.GetAnnotations()[transport.Foreign] != "true" || u.GetDeletionTimestamp() != nil {
		j.Find(c.Name, finding.CheckForeign, "%s was replaced by another client's object just before it was deleted, "+
			"and the operator deleted that object: a delete needs the UID as a precondition", objects.Name(hit.GVK, hit.Key))
	}
}

// CheckStatus finds an owner that reports ready for its spec and whose children are written afterwards, although no other client has
// changed anything in between.
func (j *Checker) CheckStatus(name string, r *run.Run) {
	if r.Cluster.Fake == nil || j.System.Singleton != nil {
		return // changes of others are not counted, or there is no status
	}
	owners := map[string]bool{}
	for _, owner := range j.System.Owners {
		if gvk, err := apiutil.GVKForObject(owner, r.Cluster.Scheme); err == nil {
			owners[gvk.GroupKind().String()] = true
		}
	}
	claimed := map[types.UID]transport.Call{}
	for _, c := range r.Calls {
		if !c.Changed {
			continue
		}
		if owners[c.GVK.GroupKind().String()] {
			if c.After != nil && cluster.ClaimsReady(c.After) {
				if _, known := claimed[c.After.GetUID()]; !known {
					claimed[c.After.GetUID()] = c
				}
			} else if c.After != nil {
				delete(claimed, c.After.GetUID())
			}
			continue
		}
		for _, claim := range j.concerned(claimed, c) {
			if c.At.Sub(claim.At) < run.PollInterval && !r.Last.ChangedOutside(claim.Pass, c.Pass) {
				j.Find(name, finding.CheckStatus, "%s reports ready for its spec before %s",
					objects.Name(claim.GVK, claim.Key), c.Request)
				return
			}
		}
	}
}

// concerned returns the owners whose ready status a write of a child contradicts: the child's owner, or for a child without an owner
// reference the last of several owners, once all have reported ready.
func (j *Checker) concerned(claimed map[types.UID]transport.Call, c transport.Call) []transport.Call {
	all := slices.SortedFunc(maps.Values(claimed), func(a, b transport.Call) int { return a.Pass - b.Pass })
	child := cmp.Or(c.After, c.Before)
	switch {
	case len(j.System.Owners) == 1:
		return all
	case child != nil && len(child.GetOwnerReferences()) > 0:
		return slices.DeleteFunc(all, func(claim transport.Call) bool {
			return !slices.ContainsFunc(child.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == claim.After.GetUID() })
		})
	case len(all) < len(j.System.Owners):
		return nil
	}
	return all[len(all)-1:]
}
