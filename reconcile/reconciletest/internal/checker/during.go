package checker

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/difference"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/randomname"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// Twin repeats the steps of a baseline and records random values. It returns the end state of the baseline.
func (j *Checker) Twin(ctx context.Context, p run.Spec, r *run.Run) (cluster.State, error) {
	other := run.Execute(ctx, j.System, p, "")
	if other.Last != nil {
		defer other.Last.End()
	}
	if other.Err != nil {
		return nil, other.Err
	}
	learned, err := j.LearnNames(ctx, j.System, p, r.Cluster, other.Cluster)
	if err != nil {
		return nil, err
	}
	if learned {
		r.Rename()
	}
	state, err := r.Cluster.State()
	if err != nil {
		return nil, err
	}
	again, err := other.Cluster.State()
	if err == nil {
		j.Random.Add(state, again)
	}
	return state, err
}

// LearnNames learns random names of objects from two runs of a spec, with a third one if names differ.
func (j *Checker) LearnNames(ctx context.Context, system description.Prepared, p run.Spec, one, other *cluster.Cluster) (bool, error) {
	first, err := one.Objects()
	if err != nil {
		return false, err
	}
	second, err := other.Objects()
	if err != nil || !randomname.Differ(first, second) {
		return false, err
	}
	r := run.Execute(ctx, system, p, "")
	if r.Last != nil {
		defer r.Last.End()
	}
	if r.Err != nil {
		return false, r.Err
	}
	third, err := r.Cluster.Objects()
	return err == nil && j.System.Names.Learn(first, second, third), err
}

// Learn records the contents of each object, except owners, that a run without faults has stored.
func (j *Checker) Learn(r *run.Run) error {
	for object, content := range j.contents(r) {
		for _, one := range content {
			j.known(object, one.text)
		}
	}
	state, err := r.Cluster.State()
	if err != nil {
		return err
	}
	j.Random.Mask(state)
	for object, content := range state {
		j.known(object, cluster.Printed(cluster.SpecOf(content)))
	}
	return nil
}

func (j *Checker) known(object, content string) {
	if j.stored[object] == nil {
		j.stored[object] = map[string]bool{}
	}
	j.stored[object][content] = true
}

// storedVersion is a version of an object that the operator has stored.
type storedVersion struct {
	text    string
	content map[string]any
	call    transport.Call
}

// contents returns the versions of objects, except owners, that the operator has stored in a run.
func (j *Checker) contents(r *run.Run) map[string][]storedVersion {
	out := map[string][]storedVersion{}
	owners := r.Cluster.OwnerKinds()
	all, err := r.Cluster.All()
	if err != nil {
		return out
	}
	names := r.Cluster.Identities(all)
	for _, c := range r.Calls {
		if !c.Changed || c.After == nil || owners[c.GVK.GroupKind()] || c.Request.Subresource == "status" {
			continue
		}
		for _, u := range []*unstructured.Unstructured{c.Before, c.After} {
			if u != nil {
				names.Add(u.GetUID(), r.Cluster.DisplayName(c.GVK, c.Key, u))
			}
		}
		u := c.After
		if j.System.Normalise != nil {
			u = u.DeepCopy()
			j.System.Normalise(u)
		}
		content, _ := cluster.Normalise(u, names).(map[string]any)
		if c.GVK.Group == "" && c.GVK.Kind == "Service" {
			cluster.HideDrawn(content)
		}
		object := r.Cluster.DisplayName(c.GVK, c.Key, c.After)
		j.Random.Mask(cluster.State{object: content})
		content = cluster.SpecOf(content)
		out[object] = append(out[object], storedVersion{cluster.Printed(content), content, c})
	}
	return out
}

// CheckDuring checks all versions that a run with a fault has stored.
func (j *Checker) CheckDuring(c baseline.Case, r *run.Run) {
	j.CheckInvariants(c.Name, r)
	j.CheckLeaks(c.Name, r)
	if c.Act != nil {
		return
	}
	j.CheckSecrets(c.Name, r)
	v := c.Spec.Variant
	if v.Slow {
		j.CheckEarly(c.Name, r)
	}
	if len(v.Inject) == 0 {
		return
	}
	other := func(n *transport.Injection) bool { return transport.Refusals()[n.Fault] == nil }
	if !slices.ContainsFunc(v.Inject, other) && !c.Spec.Unseen {
		j.CheckDamage(c.Name, r)
	}
	if len(r.Claims) > 0 && r.Refused && v.Inject[0].Lasts() {
		j.checkClaims(c, r)
	}
}

// checkClaims finds owners that reported ready although a write of a child was rejected all the time. Writes that became due by time
// after the report are exempt.
func (j *Checker) checkClaims(c baseline.Case, r *run.Run) {
	owners := r.Cluster.OwnerKinds()
	var claimed time.Time
	for _, sent := range r.Calls {
		if owners[sent.GVK.GroupKind()] && sent.After != nil && cluster.ClaimsReady(sent.After) {
			claimed = sent.At
		}
		if sent.Request.String() == c.Spec.Variant.Inject[0].Call && !owners[sent.GVK.GroupKind()] &&
			slices.Contains([]string{"create", "apply", "update", "patch"}, sent.Request.Verb) && len(j.System.Owners) == 1 {
			if !claimed.IsZero() && sent.At.Sub(claimed) >= run.PollInterval {
				return
			}
			j.Find(c.Name, finding.CheckReady, "%s reports ready although %s is refused", strings.Join(r.Claims, ", "), sent.Request)
			return
		}
	}
}

// CheckDamage finds contents that no run without faults stores.
func (j *Checker) CheckDamage(name string, r *run.Run) {
	contents := j.contents(r)
	for _, object := range slices.Sorted(maps.Keys(contents)) {
		for _, one := range contents[object] {
			if j.stored[object] == nil || j.stored[object][one.text] {
				continue
			}
			all := difference.Between(cluster.State{object: cluster.SpecOf(j.any(object))}, cluster.State{object: one.content})
			j.Find(name, finding.CheckDamage, "%s stores content that no run without faults stores; compared with one of those:\n%s", one.call, difference.Print(all))
			return
		}
	}
}

// any returns the end state of an object in the first run without faults that has it.
func (j *Checker) any(object string) map[string]any {
	for _, b := range j.Baselines {
		if b.State[object] != nil {
			return b.State[object]
		}
	}
	return map[string]any{}
}

// CheckSecrets finds a random value in a Secret that is regenerated while the Secret exists.
func (j *Checker) CheckSecrets(name string, r *run.Run) {
	for _, c := range r.Calls {
		if c.GVK.Group != "" || c.GVK.Kind != "Secret" || !c.Changed || c.Before == nil || c.After == nil || c.Before.GetUID() != c.After.GetUID() {
			continue
		}
		object := r.Cluster.DisplayName(c.GVK, c.Key, c.After)
		data, _ := c.Before.Object["data"].(map[string]any)
		now, _ := c.After.Object["data"].(map[string]any)
		for key, value := range data {
			if (j.Random[object]["data."+key] || j.hides(c.Before, key)) && value != "" && now[key] != value {
				j.Find(name, finding.CheckDamage, "%s: data.%s is random, and %s regenerates it", object, key, c)
				return
			}
		}
	}
}

// hides reports whether System.Normalise hides the value of a Secret, which is random then, too.
func (j *Checker) hides(secret *unstructured.Unstructured, key string) bool {
	if j.System.Normalise == nil {
		return false
	}
	u := secret.DeepCopy()
	j.System.Normalise(u)
	before, _, _ := unstructured.NestedString(secret.Object, "data", key)
	after, _, _ := unstructured.NestedString(u.Object, "data", key)
	return before != after
}

// CheckEarly finds owners that report ready too early.
func (j *Checker) CheckEarly(name string, r *run.Run) {
	if r.Last.Early != "" && j.standInDeleted(r) {
		j.Find(name, finding.CheckReady, "%s", r.Last.Early)
	}
}

// standInDeleted reports whether a stand-in simulates the controllers of workloads; otherwise no workload is ever ready.
func (j *Checker) standInDeleted(r *run.Run) bool {
	for _, gvk := range cluster.Workloads() {
		items, err := r.Cluster.List(gvk)
		if err != nil {
			continue
		}
		for _, u := range items {
			if u.Object["status"] != nil && cluster.Unready(u) == "" {
				return true
			}
		}
	}
	return false
}

// CheckRefused finds requests that the API server has rejected until the end, without a fault.
func (j *Checker) CheckRefused(name string, r *run.Run) {
	if j.System.Rules != nil {
		return
	}
	last := map[string]transport.Call{}
	var order []string
	for _, c := range r.Calls {
		request := c.Request.String()
		if _, known := last[request]; !known {
			order = append(order, request)
		}
		last[request] = c
	}
	for _, request := range order {
		if err := last[request].Err; apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
			j.Find(name, finding.CheckRefused, "the API server refuses %s: %v", request, err)
			return
		}
	}
}

// CompareRecreated compares the end state after owners were recreated with that of a cluster in which they have these UIDs from the start,
// because names may be derived from them.
func (j *Checker) CompareRecreated(ctx context.Context, name string, r *run.Run, got cluster.State) error {
	system := j.System
	system.Uids = map[string]types.UID{}
	owners := r.Cluster.OwnerKinds()
	all, err := r.Cluster.All()
	if err != nil {
		return err
	}
	for gvk, items := range all {
		for key, u := range items {
			if owners[gvk.GroupKind()] {
				system.Uids[objects.Name(gvk, key)] = u.GetUID()
			}
		}
	}
	fresh := run.Execute(ctx, system, run.Spec{Steps: []description.Step{description.StepA}}, "")
	if fresh.Last != nil {
		defer fresh.Last.End()
	}
	if fresh.Err != nil {
		return fresh.Err
	}
	want, err := fresh.Cluster.State()
	if err != nil {
		return err
	}
	j.Random.Mask(want)
	j.Matches(name, want, got)
	return nil
}

// CompareAs compares the end state of a run with that of its own baseline without faults, or of its last step if it has another one.
func (j *Checker) CompareAs(name string, base *baseline.Baseline, last description.Step, got cluster.State) bool {
	switch {
	case base.Last() == last && !base.Again():
		return j.Matches(name, base.State, got)
	case j.System.Horizon > 0:
		return true // the result of a schedule depends on when its owner was changed
	}
	return j.Compare(name, last, got)
}

// CheckInvariants checks the invariants for the versions that the operator has stored.
func (j *Checker) CheckInvariants(name string, r *run.Run) {
	for _, invariant := range j.System.Invariants {
		for _, c := range r.Calls {
			if !c.Changed || c.After == nil {
				continue
			}
			if text, broken := description.Breaks(invariant, r.Cluster.Scheme, c.GVK, c.After); broken {
				j.Find(name, finding.CheckInvariant, "%s: false after %s in pass %d", text, c, c.Pass)
				break
			}
		}
	}
}
