package pipeline

import (
	"errors"
	"testing"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// TestConflicts checks that a conflict with another writer of a child has its own reason, and is not retried immediately.
func TestConflicts(t *testing.T) {
	t.Parallel()
	for reason, cause := range map[string]error{
		"OwnedByAnother":  &apply.OwnedByAnotherError{Kind: "ConfigMap", Name: "a"},
		"FieldsContested": &apply.ContestedError{Kind: "ConfigMap", Name: "a"},
		"DeletedByOthers": &apply.DeletedByOthersError{Kind: "ConfigMap", Name: "a", Times: 6},
	} {
		err := categorize(&apply.ObjectError{ObjectResult: apply.ObjectResult{Decision: apply.Decision{Err: cause}}})
		var found *health.Error
		if !errors.As(err, &found) || found.Category != health.Conflict || found.Reason != reason || !settled(err) {
			t.Errorf("%T: want a settled conflict with reason %s, got %v", cause, reason, err)
		}
	}
}
