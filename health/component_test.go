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
		"own":                              {health.Component{Errors: []error{found, nil, raw}}, 2},
		"upstream":                         {health.Component{Dependency: health.Upstream, Errors: []error{found}}, 1},
		"verdict about a downstream":       {health.Component{Dependency: health.Downstream, Errors: []error{found}}, 0},
		"failed read of a downstream":      {health.Component{Dependency: health.Downstream, Errors: []error{raw}}, 1},
		"missing downstream":               {health.Component{Dependency: health.Downstream, Errors: []error{health.NewError(health.MissingDownstreamDependency, "R", "m", raw)}}, 0},
		"child":                            {health.Component{Child: true, Dependency: health.Downstream, Errors: []error{found, raw}}, 0},
		"joined errors count one by one":   {health.Component{Errors: []error{errors.Join(raw, found, failed(health.Conflict))}}, 2},
		"an error with an odd category":    {health.Component{Errors: []error{health.NewError("Odd", "R", "m", nil)}}, 1},
		"a wrapped join with its own text": {health.Component{Errors: []error{fmt.Errorf("both: %w, %w", raw, raw)}}, 1},
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
	type said struct {
		State           health.State
		Reason, Message string
	}
	conflict, auth := failed(health.Conflict), failed(health.Auth)
	cases := map[string]struct {
		component health.Component
		want      said
	}{
		"nothing said":            {health.Component{}, said{health.Ready, "Ready", ""}},
		"state alone":             {health.Component{State: health.Pending}, said{health.Pending, "Pending", ""}},
		"words are kept":          {health.Component{State: health.Starting, Reason: "R", Message: "m"}, said{health.Starting, "R", "m"}},
		"the first error words":   {health.Component{Errors: []error{nil, conflict, auth}}, said{health.Failed, "ConflictReason", "what is wrong"}},
		"a state beats errors":    {health.Component{State: health.Pending, Errors: []error{auth}}, said{health.Pending, "AuthReason", "what is wrong"}},
		"errors beat Ready":       {health.Component{State: health.Ready, Errors: []error{conflict}}, said{health.Degraded, "ConflictReason", "what is wrong"}},
		"an error without words":  {health.Component{Errors: []error{&health.Error{}}}, said{health.Degraded, "Degraded", ""}},
		"words beat those of err": {health.Component{Reason: "R", Message: "m", Errors: []error{auth}}, said{health.Failed, "R", "m"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tc.component.As("Other")
			if c.Name != "Other" || tc.component.Name != "" {
				t.Errorf("As gave the name %q and left %q", c.Name, tc.component.Name)
			}
			if diff := cmp.Diff(tc.want, said{c.GetState(), c.GetReason(), c.GetMessage()}); diff != "" {
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
