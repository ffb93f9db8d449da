package verdict_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/health/verdict"
)

func TestStates(t *testing.T) {
	t.Parallel()
	order := []verdict.State{
		verdict.Failed, verdict.NotAvailable, verdict.Degraded, verdict.Pending, verdict.Starting, verdict.Progressing, verdict.Ready,
	}
	for i := range order {
		for j := range order {
			if got := verdict.Worse(order[i], order[j]); got != (i < j) {
				t.Errorf("Worse(%s, %s) = %v", order[i], order[j], got)
			}
			if got := verdict.Worst(order[i], order[j]); got != order[min(i, j)] {
				t.Errorf("Worst(%s, %s) = %s", order[i], order[j], got)
			}
		}
	}
	if got := verdict.Worst(); got != verdict.Ready {
		t.Errorf("Worst() = %s", got)
	}
	trouble := map[verdict.State]bool{verdict.Failed: true, verdict.NotAvailable: true, verdict.Degraded: true}
	for _, s := range append(order, "", "Odd") {
		if s.Trouble() != trouble[s] {
			t.Errorf("trouble of %q is %v", s, s.Trouble())
		}
	}
	if !verdict.Worse("Odd", verdict.NotAvailable) || verdict.Worse("Odd", verdict.Failed) {
		t.Error("a word that is no state does not rank with Failed")
	}
}

// TestCategories holds the table of the package documentation.
func TestCategories(t *testing.T) {
	t.Parallel()
	type effect struct {
		State                     verdict.State
		Blocks, Retries, Terminal bool
	}
	unknown := effect{verdict.Degraded, true, true, false}
	for category, want := range map[verdict.Category]effect{
		verdict.InvalidSpec:                 {verdict.Failed, true, false, true},
		verdict.MissingUpstreamDependency:   {verdict.Degraded, true, false, false},
		verdict.MissingDownstreamDependency: {verdict.Progressing, false, false, false},
		verdict.Auth:                        {verdict.Failed, true, false, true},
		verdict.ResourceExhaustion:          {verdict.Failed, false, false, true},
		verdict.Infrastructure:              {verdict.Degraded, true, true, false},
		verdict.Conflict:                    {verdict.Degraded, false, true, false},
		verdict.Unknown:                     unknown,
		"":                                  unknown,
		"Odd":                               unknown,
	} {
		if diff := cmp.Diff(want, effect{category.State(), category.Blocks(), category.Retries(), category.Terminal()}); diff != "" {
			t.Errorf("%q: -want +got\n%s", category, diff)
		}
	}
	if got := verdict.Category("").String(); got != "Unknown" {
		t.Errorf("the empty category is %s", got)
	}
}

func TestErrorTexts(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial tcp: refused")
	down := verdict.NewError(verdict.Infrastructure, "Net", "down", cause)
	for want, err := range map[string]error{
		"Net: down":                     down,
		"Net":                           &verdict.Error{Reason: "Net"},
		"down":                          &verdict.Error{Message: "down", Cause: cause},
		"dial tcp: refused":             &verdict.Error{Cause: cause},
		"unknown error":                 &verdict.Error{},
		"Net: down (dial tcp: refused)": &verdict.RetryError{Errors: []*verdict.Error{down}},
		"2 errors: Net: down (dial tcp: refused); Taken": &verdict.RetryError{Errors: []*verdict.Error{down, {Reason: "Taken"}}},
	} {
		if got := err.Error(); got != want {
			t.Errorf("text is %q, want %q", got, want)
		}
	}
	if err := error(&verdict.RetryError{Errors: []*verdict.Error{down}}); !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
}
