package routing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/health"
)

// checkOutcome checks that there is no error, or an InvalidSpec error with the reason and a message that contains the
// text.
func checkOutcome(t *testing.T, err error, reason, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("unexpected error: %v", err)
		}
		return
	}
	var invalid *health.Error
	if !errors.As(err, &invalid) {
		t.Fatalf("error = %v, want a *health.Error with %q", err, want)
	}
	if invalid.Category != health.InvalidSpec || invalid.Reason != reason {
		t.Errorf("category, reason = %s, %s, want InvalidSpec, %s", invalid.Category, invalid.Reason, reason)
	}
	if !strings.Contains(invalid.Message, want) {
		t.Errorf("message = %q, want %q in it", invalid.Message, want)
	}
	if len(invalid.Message) > 1024 {
		t.Errorf("the message has %d bytes, too many for a condition", len(invalid.Message))
	}
}
