package health_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/health"
)

func TestStates(t *testing.T) {
	t.Parallel()
	order := []health.State{
		health.Failed, health.NotAvailable, health.Degraded, health.Pending, health.Starting, health.Progressing, health.Ready,
	}
	for i := range order {
		for j := range order {
			if got := health.Worse(order[i], order[j]); got != (i < j) {
				t.Errorf("Worse(%s, %s) = %v", order[i], order[j], got)
			}
		}
	}
	failure := map[health.State]bool{health.Failed: true, health.NotAvailable: true, health.Degraded: true}
	for _, s := range append(order, "", "Odd") {
		if s.Failing() != failure[s] {
			t.Errorf("failure of %q is %v", s, s.Failing())
		}
	}
	if !health.Worse("Odd", health.NotAvailable) || health.Worse("Odd", health.Failed) {
		t.Error("an unknown state does not rank with Failed")
	}
}

// TestCategoryEffects checks the table of the package documentation.
func TestCategoryEffects(t *testing.T) {
	t.Parallel()
	type effect struct {
		State                     health.State
		Blocks, Retries, Terminal bool
	}
	unknown := effect{health.Degraded, true, true, false}
	for category, want := range map[health.Category]effect{
		health.InvalidSpec:                 {health.Failed, true, false, true},
		health.MissingUpstreamDependency:   {health.Degraded, true, false, false},
		health.MissingDownstreamDependency: {health.Progressing, false, false, false},
		health.Auth:                        {health.Failed, true, false, true},
		health.ResourceExhaustion:          {health.Failed, false, false, true},
		health.Infrastructure:              {health.Degraded, true, true, false},
		health.Conflict:                    {health.Degraded, false, true, false},
		health.Unknown:                     unknown,
		"":                                 unknown,
		"Odd":                              unknown,
	} {
		if diff := cmp.Diff(want, effect{category.State(), category.Blocks(), category.Retries(), category.Terminal()}); diff != "" {
			t.Errorf("%q: -want +got\n%s", category, diff)
		}
	}
	if got := health.Category("").String(); got != "Unknown" {
		t.Errorf("the empty category is %s", got)
	}
}

func TestErrorTexts(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial tcp: refused")
	down := health.NewError(health.Infrastructure, "Net", "down", cause)
	for want, err := range map[string]error{
		"Net: down":                     down,
		"Net":                           &health.Error{Reason: "Net"},
		"down":                          &health.Error{Message: "down", Cause: cause},
		"dial tcp: refused":             &health.Error{Cause: cause},
		"unknown error":                 &health.Error{},
		"Net: down (dial tcp: refused)": retry(down),
		"2 errors: Net: down (dial tcp: refused); Taken": retry(down, &health.Error{Reason: "Taken"}),
	} {
		if got := err.Error(); got != want {
			t.Errorf("text is %q, want %q", got, want)
		}
	}
	if err := retry(down); !errors.Is(err, cause) {
		t.Error("the cause is not wrapped")
	}
}
