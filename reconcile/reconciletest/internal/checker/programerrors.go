package checker

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

// CheckProgramErrors finds an owner whose condition Ready reports a program error at the end of a run without faults, such as a kind that is
// planned and not declared. Without this check, an operator that does nothing in every run converges.
func (j *Checker) CheckProgramErrors(name string, r *run.Run) {
	if panicked(r) != "" { // CheckPanic reports it
		return
	}
	for _, owner := range unready(r) {
		if owner.reason == programError {
			j.Find(name, finding.CheckRefused, "the operator reports a program error for %s: %s", owner.name, owner.message)
			return
		}
	}
}

// NoteUnready notes an owner that is not ready at the end of a run without faults with the last step. It omits findings of CheckMistakes.
func (j *Checker) NoteUnready(step description.Step, r *run.Run) {
	for _, owner := range unready(r) {
		if owner.reason != programError {
			j.Note("not tried: what happens once %s is ready, because it is not ready at the end of %s: %s", owner.name, step, owner.why())
		}
	}
}

// programError is the reason of a condition about a program error: a category of package health.
const programError = "ProgramError"

// notReady is an owner with a condition Ready that is not True.
type notReady struct{ name, reason, message string }

// why returns the condition's reason and message.
func (n notReady) why() string { return strings.TrimSuffix(n.reason+": "+n.message, ": ") }

func unready(r *run.Run) (out []notReady) {
	all, err := r.Cluster.All()
	if err != nil {
		return nil
	}
	kinds := r.Cluster.OwnerKinds()
	for _, gvk := range r.Cluster.Kinds() {
		if !kinds[gvk.GroupKind()] {
			continue
		}
		for _, key := range objects.SortedKeys(all[gvk]) {
			if c := readyOf(all[gvk][key]); c != nil && c["status"] != "True" {
				out = append(out, notReady{objects.Name(gvk, key), fmt.Sprint(c["reason"]), fmt.Sprint(c["message"])})
			}
		}
	}
	return out
}

// readyOf returns the condition Ready of an object, nil if it has none.
func readyOf(u *unstructured.Unstructured) map[string]any {
	status, _ := u.Object["status"].(map[string]any)
	list := objects.Maps(status, "conditions")
	if n := slices.IndexFunc(list, func(c map[string]any) bool { return c["type"] == "Ready" }); n >= 0 {
		return list[n]
	}
	return nil
}
