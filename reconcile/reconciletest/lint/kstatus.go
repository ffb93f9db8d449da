package lint

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kstatus checks that generic tools, such as helm, flux and Argo CD, can interpret the status of an owner, by the rules of kstatus
// (sigs.k8s.io/cli-utils/pkg/kstatus) and of the API conventions:
//
//   - an owner that is not Ready has exactly one of Reconciling and Stalled, and an owner that is Ready has neither;
//   - each condition has a reason, a time, a valid status and a unique type;
//   - no observedGeneration is above the generation, and that of Ready is not 0.
//
// An owner without conditions was not reconciled yet, and one whose condition Paused is True is not reconciled: for these only the form
// of the conditions is checked. The error joins all problems; nil if there are none. With [Always] it is an invariant of [Converge]:
//
//	lint.Always("kstatus reads the status", func(w *Website) bool { return lint.Kstatus(w) == nil })
func Kstatus(owner client.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(owner)
	if err != nil {
		return fmt.Errorf("convert %T: %w", owner, err)
	}
	list, err := storedConditions(content)
	if err != nil || len(list) == 0 {
		return err
	}
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) } //nolint:err113 // a finding
	observed, _, err := unstructured.NestedInt64(content, "status", "observedGeneration")
	if err != nil {
		wrong("status.observedGeneration: %w", err)
	}
	if observed > owner.GetGeneration() {
		wrong("status.observedGeneration is %d, above the generation %d", observed, owner.GetGeneration())
	}
	is := map[string]metav1.Condition{}
	for _, c := range list {
		if _, twice := is[c.Type]; twice {
			wrong("condition %s is listed twice", c.Type)
		}
		is[c.Type] = c
		switch {
		case c.Reason == "":
			wrong("condition %s has no reason", c.Type)
		case c.LastTransitionTime.IsZero():
			wrong("condition %s has no lastTransitionTime", c.Type)
		case c.ObservedGeneration > owner.GetGeneration():
			wrong("condition %s: observedGeneration is %d, above the generation %d", c.Type, c.ObservedGeneration, owner.GetGeneration())
		}
		switch c.Status {
		case metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown:
		default:
			wrong("condition %s: status %q, want True, False or Unknown", c.Type, c.Status)
		}
	}
	if is["Paused"].Status != metav1.ConditionTrue {
		errs = append(errs, checkProgress(is))
	}
	return errors.Join(errs...)
}

// checkProgress checks that Ready is consistent with Reconciling and Stalled.
func checkProgress(is map[string]metav1.Condition) error {
	ready, found := is["Ready"]
	reconciling, stalled := is["Reconciling"].Status == metav1.ConditionTrue, is["Stalled"].Status == metav1.ConditionTrue
	switch {
	case !found:
		return errors.New("the conditions do not include Ready")
	case ready.ObservedGeneration == 0:
		return errors.New("condition Ready has no observedGeneration, so its generation is unknown")
	case reconciling && stalled:
		return errors.New("both Reconciling and Stalled are True: want one of them at most")
	case ready.Status == metav1.ConditionTrue && (reconciling || stalled):
		return errors.New("condition Ready is True together with Reconciling or Stalled: kstatus does not treat the object as current")
	case ready.Status != metav1.ConditionTrue && !reconciling && !stalled:
		return fmt.Errorf("condition Ready is %s (%s) with neither Reconciling nor Stalled: want Stalled if no later pass changes it by itself, else Reconciling",
			ready.Status, ready.Reason)
	}
	return nil
}

// storedConditions returns the conditions of an object's status.
func storedConditions(content map[string]any) ([]metav1.Condition, error) {
	var typed struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &typed); err != nil {
		return nil, fmt.Errorf("status.conditions: %w", err)
	}
	return typed.Status.Conditions, nil
}
