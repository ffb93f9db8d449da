package verdict

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

// CheckMistakes looks for an owner whose condition Ready says at the end of a run without faults that the program is wrong, such as a
// kind that is planned and not declared. An operator that does nothing in every run converges, too.
func (j *Judge) CheckMistakes(name string, r *run.Run) {
	if panicked(r) != "" { // CheckPanic has it
		return
	}
	for _, owner := range unready(r) {
		if owner.reason == programError {
			j.Find(name, finding.CheckRefused, "the program of %s is wrong: %s", owner.name, owner.message)
			return
		}
	}
}

// NoteUnready notes an owner that is not ready at the end of a run without faults, of which step is the last. What CheckMistakes finds is not
// noted again.
func (j *Judge) NoteUnready(step description.Step, r *run.Run) {
	for _, owner := range unready(r) {
		if owner.reason != programError {
			j.Note("not tried: what follows when %s is ready, as it is not at the end of %s: %s", owner.name, step, owner.why())
		}
	}
}

// programError is the reason by which a condition names a mistake of the program: a category of package health.
const programError = "ProgramError"

// notReady is an owner with the condition Ready, which is not True.
type notReady struct{ name, reason, message string }

// why is what the condition says.
func (n notReady) why() string { return strings.TrimSuffix(n.reason+": "+n.message, ": ") }

func unready(r *run.Run) (out []notReady) {
	all, err := r.World.All()
	if err != nil {
		return nil
	}
	kinds := r.World.OwnerKinds()
	for _, gvk := range r.World.Kinds() {
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

// readyOf is the condition Ready of an object, nil when it has none.
func readyOf(u *unstructured.Unstructured) map[string]any {
	status, _ := u.Object["status"].(map[string]any)
	list := objects.Maps(status, "conditions")
	if n := slices.IndexFunc(list, func(c map[string]any) bool { return c["type"] == "Ready" }); n >= 0 {
		return list[n]
	}
	return nil
}
