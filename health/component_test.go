package health_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/health"
)

func TestBlocking(t *testing.T) {
	t.Parallel()
	raw, found := errors.New("boom"), failed(health.InvalidSpec)
	cases := map[string]struct {
		component health.Component
		want      int
	}{
		"own":                                  {health.Component{Errors: []error{found, nil, raw}}, 2},
		"upstream":                             {health.Component{Dependency: health.Upstream, Errors: []error{found}}, 1},
		"classified error of a downstream":     {health.Component{Dependency: health.Downstream, Errors: []error{found}}, 0},
		"failed read of a downstream":          {health.Component{Dependency: health.Downstream, Errors: []error{raw}}, 1},
		"missing downstream":                   {health.Component{Dependency: health.Downstream, Errors: []error{health.NewError(health.MissingDownstreamDependency, "R", "m", raw)}}, 0},
		"child":                                {health.Component{Child: true, Dependency: health.Downstream, Errors: []error{found, raw}}, 0},
		"joined errors are counted separately": {health.Component{Errors: []error{errors.Join(raw, found, failed(health.Conflict))}}, 2},
		"an error with an unknown category":    {health.Component{Errors: []error{health.NewError("Odd", "R", "m", nil)}}, 1},
		"a wrapped join with its own text":     {health.Component{Errors: []error{fmt.Errorf("both: %w, %w", raw, raw)}}, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := health.Blocking([]health.Component{tc.component}); len(got) != tc.want {
				t.Errorf("blocking = %v, want %d", got, tc.want)
			}
		})
	}
}

func TestComponent(t *testing.T) {
	t.Parallel()
	type reported struct {
		State           health.State
		Reason, Message string
	}
	conflict, auth := failed(health.Conflict), failed(health.Auth)
	cases := map[string]struct {
		component health.Component
		want      reported
	}{
		"empty component":                             {health.Component{}, reported{health.Ready, "Ready", ""}},
		"only a state":                                {health.Component{State: health.Pending}, reported{health.Pending, "Pending", ""}},
		"reason and message are kept":                 {health.Component{State: health.Starting, Reason: "R", Message: "m"}, reported{health.Starting, "R", "m"}},
		"reason and message of the first error":       {health.Component{Errors: []error{nil, conflict, auth}}, reported{health.Failed, "ConflictReason", "what is wrong"}},
		"a state overrides errors":                    {health.Component{State: health.Pending, Errors: []error{auth}}, reported{health.Pending, "AuthReason", "what is wrong"}},
		"errors override Ready":                       {health.Component{State: health.Ready, Errors: []error{conflict}}, reported{health.Degraded, "ConflictReason", "what is wrong"}},
		"an error without reason and message":         {health.Component{Errors: []error{&health.Error{}}}, reported{health.Degraded, "Degraded", ""}},
		"own reason and message override the error's": {health.Component{Reason: "R", Message: "m", Errors: []error{auth}}, reported{health.Failed, "R", "m"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tc.component.As("Other")
			if c.Name != "Other" || tc.component.Name != "" {
				t.Errorf("As returned the name %q and changed the original to %q", c.Name, tc.component.Name)
			}
			if diff := cmp.Diff(tc.want, reported{c.GetState(), c.GetReason(), c.GetMessage()}); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestCategorized(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	again := retry(
		health.NewError(health.Infrastructure, "Net", "down", boom), health.NewError(health.Conflict, "Taken", "by b", nil),
	)
	c := health.Component{Errors: []error{
		nil, fmt.Errorf("wrapped: %w", failed(health.Auth)), errors.Join(boom, errors.Join(failed(health.Conflict), nil)), again,
	}}
	var got []string
	for _, e := range c.Categorized() {
		got = append(got, string(e.Category)+" "+e.Reason)
	}
	want := []string{"Auth AuthReason", "Unknown UnknownError", "Conflict ConflictReason", "Infrastructure Net", "Conflict Taken"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if list := (health.Component{Errors: []error{nil}}).Categorized(); list != nil {
		t.Errorf("a component without errors has %v", list)
	}
}
