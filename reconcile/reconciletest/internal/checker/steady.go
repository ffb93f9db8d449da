package checker

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

// CheckSteady checks a cluster in steady state without a fault.
func (j *Checker) CheckSteady(name string, r *run.Run) {
	j.CheckPanic(name, r)
	j.checkFailing(name, r)
	j.checkObserved(name, r)
	j.checkScaled(name, r)
	j.checkLeaks(name, r)
}

// CheckPanic finds a pass that has panicked, at any time of a run.
func (j *Checker) CheckPanic(name string, r *run.Run) {
	if text := panicked(r); text != "" {
		j.Find(name, finding.CheckPanic, "a pass panics: %s", text)
	}
}

// panicked returns the first line of a panic of a pass, "" if there was none.
func panicked(r *run.Run) string {
	text := r.Panicked
	if text == "" && r.Last != nil {
		text = r.Last.Log.Panicked()
	}
	text, _, _ = strings.Cut(text, "\n")
	return text
}

// checkFailing finds passes that fail, or request another one immediately, although there is nothing to wait for.
func (j *Checker) checkFailing(name string, r *run.Run) {
	if j.System.Rules != nil || r.Cluster.Waiting() || len(j.Findings()) > 0 {
		return
	}
	failing := r.Last.Scheduler.Failing(run.MaxIdle / 2)
	if len(failing) == 0 {
		return
	}
	if why := r.Last.Log.LastError(); why != "" {
		j.Find(name, finding.CheckRest, "the passes for %s keep failing: %s", failing[0], why)
		return
	}
	suffix := ""
	if owners := unready(r); len(owners) > 0 { // an error whose retry is a requeue
		suffix = "; " + owners[0].name + " is not ready: " + owners[0].why()
	}
	j.Find(name, finding.CheckRest, "the passes for %s keep requesting another one, although nothing is left to do%s", failing[0], suffix)
}

// CheckGaps finds reads from the manager's cache that cannot succeed, because it contains only a part of the data, unless the pass then
// reads without the cache.
func (j *Checker) CheckGaps(name string, r *run.Run) {
	if gaps := r.Last.Wire.Gaps(); len(gaps) > 0 {
		j.Find(name, finding.CheckRest, "pass %d reads %s through the client of the manager, whose cache keeps only the metadata of it: "+
			"read it with the reader of FetchRemoteState or from the API server, or declare the kind with controller.Whole", gaps[0].Pass, gaps[0].What)
	}
}

// checkObserved finds an owner in steady state whose status has another generation than its metadata.
func (j *Checker) checkObserved(name string, r *run.Run) {
	all, err := r.Cluster.All()
	if err != nil || j.System.Singleton != nil {
		return
	}
	kinds := r.Cluster.OwnerKinds()
	for _, gvk := range r.Cluster.Kinds() {
		items := all[gvk]
		if !kinds[gvk.GroupKind()] {
			continue
		}
		for _, key := range objects.SortedKeys(items) {
			if what, observed := outdated(items[key]); what != "" {
				j.Find(name, finding.CheckStatus, "%s is in steady state with the generation %d, and %s is %d",
					objects.Name(gvk, key), items[key].GetGeneration(), what, observed)
				return
			}
		}
	}
}

// outdated returns the field of a status with another generation than that of the object. Generations start at 1.
func outdated(u *unstructured.Unstructured) (what string, observed int64) {
	status, _ := u.Object["status"].(map[string]any)
	if n, ok := status["observedGeneration"].(int64); ok && n > 0 && n != u.GetGeneration() && u.GetGeneration() > 0 {
		return "status.observedGeneration", n
	}
	for _, condition := range objects.Maps(status, "conditions") {
		n, ok := condition["observedGeneration"].(int64)
		if ok && condition["type"] == "Ready" && n > 0 && n != u.GetGeneration() && u.GetGeneration() > 0 {
			return "observedGeneration of the condition Ready", n
		}
	}
	return "", 0
}

// checkScaled finds a workload that the operator scales to zero and up again without a fault.
func (j *Checker) checkScaled(name string, r *run.Run) {
	down := map[string]bool{}
	for _, c := range r.Calls {
		if !c.Changed || c.After == nil || c.Before == nil || !slices.Contains(cluster.Workloads(), c.GVK) {
			continue
		}
		object := objects.Name(c.GVK, c.Key)
		before, _, _ := unstructured.NestedInt64(c.Before.Object, "spec", "replicas")
		after, _, _ := unstructured.NestedInt64(c.After.Object, "spec", "replicas")
		switch {
		case before > 0 && after == 0:
			down[object] = true
		case before == 0 && after > 0 && down[object]:
			j.Find(name, finding.CheckDamage, "%s is scaled to 0 and to %d again, without a fault", object, after)
			return
		}
	}
}

// secretWord matches the keys of secret values.
var secretWord = regexp.MustCompile(`(?i)passw|token|secret|credential|private|api-?key`)

const shortest = 8 // minimum length of a secret value

// checkLeaks finds secret values in places that others can read.
func (j *Checker) checkLeaks(name string, r *run.Run) {
	leak, all := j.leak(r)
	if leak == nil || j.findReported(name, r, leak) {
		return
	}
	given := j.givenText()
	for _, gvk := range r.Cluster.Kinds() {
		items := all[gvk]
		if isSecret(gvk) {
			continue
		}
		for _, key := range objects.SortedKeys(items) {
			object := objects.Name(gvk, key)
			if given[object] {
				continue
			}
			if of := leak(cluster.Printed(items[key].Object)); of != "" {
				j.findLeak(name, object, of)
				return
			}
		}
	}
}

// CheckLeaks finds secret values in the errors, events and statuses of a run with a fault.
func (j *Checker) CheckLeaks(name string, r *run.Run) {
	if r.Cluster == nil || r.Last == nil {
		return
	}
	leak, _ := j.leak(r)
	if leak == nil || j.findReported(name, r, leak) {
		return
	}
	for _, c := range r.Calls {
		if !c.Changed || c.After == nil || isSecret(c.GVK) || c.After.Object["status"] == nil {
			continue
		}
		status, _ := c.After.Object["status"].(map[string]any)
		if of := leak(cluster.Printed(status)); of != "" {
			j.findLeak(name, "the status of "+objects.Name(c.GVK, c.Key), of)
			return
		}
	}
}

// findReported finds secret values in the log and in events.
func (j *Checker) findReported(name string, r *run.Run, leak func(text string) string) bool {
	for _, line := range r.Last.Log.All() {
		if of := leak(line); of != "" {
			return j.findLeak(name, "the log", of)
		}
	}
	for _, event := range r.Events.All() {
		if of := leak(event.Message); of != "" {
			return j.findLeak(name, "an event of "+event.Object, of)
		}
	}
	return false
}

func (j *Checker) findLeak(name, where, of string) bool {
	j.Find(name, finding.CheckLeak, "%s shows the value of %s", where, of)
	return true
}

// leak returns all objects, and a function that returns the origin of a secret value in a text, "" if it has none; the function is nil if
// there are no secret values.
func (j *Checker) leak(r *run.Run) (leak func(text string) string, all map[schema.GroupVersionKind]cluster.Snapshot) {
	all, err := r.Cluster.All()
	if err != nil {
		return nil, nil
	}
	values := j.secretValues(all)
	if len(values) == 0 {
		return nil, nil
	}
	places := slices.Sorted(maps.Keys(values))
	return func(text string) string {
		for _, of := range places {
			if strings.Contains(text, values[of]) {
				return of
			}
		}
		return ""
	}, all
}

func isSecret(gvk schema.GroupVersionKind) bool { return gvk.Group == "" && gvk.Kind == "Secret" }

// secretValues returns the secret values with their origin: random ones, and those with a secret key.
func (j *Checker) secretValues(all map[schema.GroupVersionKind]cluster.Snapshot) map[string]string {
	out := map[string]string{}
	for key, u := range all[schema.GroupVersionKind{Version: "v1", Kind: "Secret"}] {
		object := objects.Name(u.GroupVersionKind(), key)
		data, _ := u.Object["data"].(map[string]any)
		for field, encoded := range data {
			value, err := base64.StdEncoding.DecodeString(fmt.Sprint(encoded))
			if err == nil && len(value) >= shortest && (j.Random[object]["data."+field] || secretWord.MatchString(field)) {
				out[object+" data."+field] = string(value)
			}
		}
	}
	return out
}

// givenText returns the texts of objects that existed before the operator; these are not its leaks.
func (j *Checker) givenText() map[string]bool {
	out := map[string]bool{}
	if j.Probe == nil {
		return out
	}
	for _, given := range j.Inputs() {
		out[given.String()] = true
	}
	return out
}
