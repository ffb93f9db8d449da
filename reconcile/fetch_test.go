package reconcile_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

func TestFetchResultHealth(t *testing.T) {
	t.Parallel()
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "databases"}, "main")
	chosen := health.NewError(health.InvalidSpec, "BadName", "the name is not valid", missing)
	inspect := func(int) health.Component { return health.Component{Name: "inspected", State: health.Starting} }
	cases := map[string]struct {
		reason string
		result reconcile.FetchResult[int]
		as     func(reconcile.FetchResult[int]) health.Component
		want   health.Component
		state  health.State
	}{
		"Value": {
			reason: "the inspector's health under the component's name", result: reconcile.FetchResult[int]{Value: 1},
			as:   func(f reconcile.FetchResult[int]) health.Component { return f.Health("Database", inspect) },
			want: health.Component{Name: "Database", State: health.Starting}, state: health.Starting,
		},
		"MissingUpstream": {
			reason: "what somebody else has to provide", result: reconcile.FetchResult[int]{Error: fmt.Errorf("get: %w", missing)},
			as: func(f reconcile.FetchResult[int]) health.Component { return f.Upstream("Database", inspect) },
			want: health.Component{Name: "Database", Dependency: health.Upstream, Errors: []error{
				health.NewError(health.MissingUpstreamDependency, "ReferenceNotFound",
					`Upstream dependency not found: get: databases "main" not found`, fmt.Errorf("get: %w", missing)),
			}},
			state: health.Degraded,
		},
		"MissingDownstream": {
			reason: "what the plan is about to create never blocks it", result: reconcile.FetchResult[int]{Error: missing},
			as: func(f reconcile.FetchResult[int]) health.Component { return f.Downstream("Database", inspect) },
			want: health.Component{Name: "Database", Dependency: health.Downstream, Child: true, Errors: []error{
				health.NewError(health.MissingDownstreamDependency, "ResourceNotReady",
					"Downstream resource not found or being created", missing),
			}},
			state: health.Progressing,
		},
		"Categorised": {
			reason: "an error that its author has categorised stays as it is", result: reconcile.FetchResult[int]{Error: chosen},
			as:    func(f reconcile.FetchResult[int]) health.Component { return f.Upstream("Database", inspect) },
			want:  health.Component{Name: "Database", Dependency: health.Upstream, Errors: []error{chosen}},
			state: health.Failed,
		},
	}
	sameText := cmp.Comparer(func(a, b error) bool {
		var left, right *health.Error
		if errors.As(a, &left) && errors.As(b, &right) && left.Category != right.Category {
			return false
		}
		return a.Error() == b.Error()
	})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tc.as(tc.result)
			if diff := cmp.Diff(tc.want, got, sameText, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if got.GetState() != tc.state {
				t.Errorf("%s: state %s, want %s", tc.reason, got.GetState(), tc.state)
			}
		})
	}
}
