package controller

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

// Reasons of conditions about mistakes of the program.
const (
	reasonInvalidPlan     = "InvalidPlan"
	reasonUndeclaredKind  = "UndeclaredKind"
	reasonUndeclaredIndex = "UndeclaredIndex"
	reasonMetadataOnly    = "MetadataOnly"
	reasonUnstablePlan    = "UnstablePlan"
)

// mistake is an error that only a change of the program mends. Its text names the line to change.
type mistake struct {
	reason string
	err    error
}

// Error is the text of the error.
func (m *mistake) Error() string { return m.err.Error() }

// Unwrap returns the error.
func (m *mistake) Unwrap() error { return m.err }

// HealthCategory names it a mistake of the program.
func (*mistake) HealthCategory() string { return string(health.ProgramError) }

// HealthReason is the reason of the condition.
func (m *mistake) HealthReason() string { return m.reason }

// isNil reports whether an object is a nil pointer in an interface.
func isNil(object client.Object) bool {
	v := reflect.ValueOf(object)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// nilPlanned is the refusal of a nil object in a plan. Its number is that of the call, from 1: more is not known of it.
func nilPlanned(what string, at int, object client.Object) error {
	return &mistake{reasonInvalidPlan, fmt.Errorf("%s %d of the plan is a nil %T: leave out of the plan what is not wanted",
		what, at+1, object)}
}

// unindexed names the line to add when a list failed because it asks for a field that was not declared, so that the cache has no
// index for it. Other errors come back as they are.
func (c *cachedReads) unindexed(k *kind, selector fields.Selector, err error) error {
	if selector == nil || !strings.Contains(err.Error(), "does not exist") { // client-go has no type for it
		return err
	}
	for _, requirement := range selector.Requirements() {
		if k.fields[requirement.Field] != nil {
			continue
		}
		option := fmt.Sprintf("controller.Index(%q, ...)", requirement.Field)
		if requirement.Field == reconcile.ChildIndex {
			option = "controller.Listed"
		}
		return &mistake{reasonUndeclaredIndex, fmt.Errorf("list %s by field %q: add %s beside %s in the builder of controller %q: %w",
			printKind(k.GroupVersionKind), requirement.Field, option, c.example(k.GroupVersionKind), c.controller, err)}
	}
	return err
}
