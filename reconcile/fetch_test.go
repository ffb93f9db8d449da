package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// kinds is a reader of two kinds, of which those listed exist.
type kinds struct{ objects []string }

func (k kinds) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if k.objects == nil {
		return errUnreachable
	}
	if !slices.Contains(k.objects, fmt.Sprintf("%T %s", into, key)) {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	into.SetName(key.Name)
	return nil
}

func (kinds) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

var errUnreachable = errors.New("unreachable")

func TestFetchNearest(t *testing.T) {
	t.Parallel()
	near, far := "*v1.ConfigMap a/x", "*v1.Node /x"
	for name, tc := range map[string]struct {
		reason    string
		namespace string
		objects   []string
		want      string // what was found
		missing   string // what was looked for and does not exist
		err       error
	}{
		"Both":        {reason: "the near one hides the far one", namespace: "a", objects: []string{near, far}, want: "near"},
		"OnlyFar":     {reason: "the cluster's when the namespace has none", namespace: "a", objects: []string{far}, want: "far", missing: "near"},
		"None":        {reason: "both are missing", namespace: "a", objects: []string{""}, missing: "near and far"},
		"ClusterOnly": {reason: "without a namespace only the cluster is asked", objects: []string{near, far}, want: "far"},
		"Unreachable": {reason: "nobody knows whether the namespace has one, so the far one is not taken", namespace: "a", err: errUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := client.ObjectKey{Namespace: tc.namespace, Name: "x"}
			one, two := reconcile.FetchNearest(t.Context(), kinds{tc.objects}, key, &corev1.ConfigMap{}, &corev1.Node{})
			var found, missing []string
			if one.Value != nil {
				found = append(found, "near")
			}
			if two.Value != nil {
				found = append(found, "far")
			}
			if one.IsNotFound() {
				missing = append(missing, "near")
			}
			if two.IsNotFound() {
				missing = append(missing, "far")
			}
			if got := strings.Join(found, " and "); got != tc.want {
				t.Errorf("%s: found %q, want %q", tc.reason, got, tc.want)
			}
			if got := strings.Join(missing, " and "); got != tc.missing {
				t.Errorf("%s: missing %q, want %q", tc.reason, got, tc.missing)
			}
			if err := errors.Join(one.Failure(), two.Failure()); !errors.Is(err, tc.err) {
				t.Errorf("%s: failure %v, want %v", tc.reason, err, tc.err)
			}
		})
	}
}
