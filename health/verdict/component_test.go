package verdict_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/health/verdict"
)

func failed(category verdict.Category) error {
	return verdict.NewError(category, string(category)+"Reason", "what is wrong", nil)
}

func TestBlocking(t *testing.T) {
	t.Parallel()
	raw, found := errors.New("boom"), failed(verdict.InvalidSpec)
	cases := map[string]struct {
		component verdict.Component
		want      int
	}{
		"own":                              {verdict.Component{Errors: []error{found, nil, raw}}, 2},
		"upstream":                         {verdict.Component{Dependency: verdict.Upstream, Errors: []error{found}}, 1},
		"verdict about a downstream":       {verdict.Component{Dependency: verdict.Downstream, Errors: []error{found}}, 0},
		"failed read of a downstream":      {verdict.Component{Dependency: verdict.Downstream, Errors: []error{raw}}, 1},
		"missing downstream":               {verdict.Component{Dependency: verdict.Downstream, Errors: []error{verdict.NewError(verdict.MissingDownstreamDependency, "R", "m", raw)}}, 0},
		"child":                            {verdict.Component{Child: true, Dependency: verdict.Downstream, Errors: []error{found, raw}}, 0},
		"joined errors count one by one":   {verdict.Component{Errors: []error{errors.Join(raw, found, failed(verdict.Conflict))}}, 2},
		"an error with an odd category":    {verdict.Component{Errors: []error{verdict.NewError("Odd", "R", "m", nil)}}, 1},
		"a wrapped join with its own text": {verdict.Component{Errors: []error{fmt.Errorf("both: %w, %w", raw, raw)}}, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := verdict.Blocking([]verdict.Component{tc.component}); len(got) != tc.want {
				t.Errorf("blocking = %v, want %d", got, tc.want)
			}
		})
	}
}

func TestComponent(t *testing.T) {
	t.Parallel()
	type said struct {
		State           verdict.State
		Reason, Message string
	}
	conflict, auth := failed(verdict.Conflict), failed(verdict.Auth)
	cases := map[string]struct {
		component verdict.Component
		want      said
	}{
		"nothing said":            {verdict.Component{}, said{verdict.Ready, "Ready", ""}},
		"state alone":             {verdict.Component{State: verdict.Pending}, said{verdict.Pending, "Pending", ""}},
		"words are kept":          {verdict.Component{State: verdict.Starting, Reason: "R", Message: "m"}, said{verdict.Starting, "R", "m"}},
		"the first error words":   {verdict.Component{Errors: []error{nil, conflict, auth}}, said{verdict.Failed, "ConflictReason", "what is wrong"}},
		"a state beats errors":    {verdict.Component{State: verdict.Pending, Errors: []error{auth}}, said{verdict.Pending, "AuthReason", "what is wrong"}},
		"errors beat Ready":       {verdict.Component{State: verdict.Ready, Errors: []error{conflict}}, said{verdict.Degraded, "ConflictReason", "what is wrong"}},
		"an error without words":  {verdict.Component{Errors: []error{&verdict.Error{}}}, said{verdict.Degraded, "Degraded", ""}},
		"words beat those of err": {verdict.Component{Reason: "R", Message: "m", Errors: []error{auth}}, said{verdict.Failed, "R", "m"}},
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
	again := &verdict.RetryError{Errors: []*verdict.Error{
		verdict.NewError(verdict.Infrastructure, "Net", "down", boom), verdict.NewError(verdict.Conflict, "Taken", "by b", nil),
	}}
	c := verdict.Component{Errors: []error{
		nil, fmt.Errorf("wrapped: %w", failed(verdict.Auth)), errors.Join(boom, errors.Join(failed(verdict.Conflict), nil)), again,
	}}
	var got []string
	for _, e := range c.Categorized() {
		got = append(got, string(e.Category)+" "+e.Reason)
	}
	want := []string{"Auth AuthReason", "Unknown UnknownError", "Conflict ConflictReason", "Infrastructure Net", "Conflict Taken"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if list := (verdict.Component{Errors: []error{nil}}).Categorized(); list != nil {
		t.Errorf("a component without errors has %v", list)
	}
}
