package pipeline_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// tallying counts ConfigMaps in the status and ignores the error of its read.
type tallying struct {
	components []health.Component
	unplanned  error
	panics     bool
	seen       []string // recorded by the decorator: the owner, and the reason why nothing was applied
}

type tallied struct {
	found      reconcile.FetchResult[*corev1.ConfigMapList]
	components []health.Component
}

func (t tallied) GetComponentHealth(context.Context) []health.Component { return t.components }

func (t *tallying) FetchRemoteState(ctx context.Context, r reconcile.Reader, _ reconcile.ReconcileContext[*widget.Widget]) tallied {
	return tallied{found: reconcile.FetchList(ctx, r, &corev1.ConfigMapList{}), components: t.components}
}

func (t *tallying) PlanResources(context.Context, reconcile.ReconcileContext[*widget.Widget], tallied) (reconcile.PlanResult, error) {
	if t.panics {
		panic("no plan")
	}
	return reconcile.PlanResult{}, t.unplanned
}

func (t *tallying) DecorateStatus(
	status *widget.Status, cm *conditions.Manager, sc reconcile.StatusContext[*widget.Widget], observed tallied,
) {
	blocked := ""
	if sc.Blocked != nil {
		blocked = sc.Blocked.Error()
	}
	t.seen = []string{sc.Object.Name, blocked}
	status.Count = len(observed.found.Value.Items)
	cm.MarkTrue("Counted", "Counted", "counted")
}

// shelf is a stored widget and a list of config maps.
type shelf struct {
	stored
	items int
	err   error
}

func (s *shelf) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	if s.err == nil {
		into.(*corev1.ConfigMapList).Items = make([]corev1.ConfigMap, s.items)
	}
	return s.err
}

// TestDecorateStatus checks that no status value comes from a failed read, and that the decorator receives the reason why nothing was applied.
func TestDecorateStatus(t *testing.T) {
	t.Parallel()
	broken := apierrors.NewInternalError(errors.New("etcd is away"))
	for name, tc := range map[string]struct {
		change func(*shelf, *tallying)
		seen   []string // nil if DecorateStatus was not called
		count  int
	}{
		"Ready": {
			change: func(s *shelf, _ *tallying) { s.items = 1 },
			seen:   []string{"demo", ""}, count: 1,
		},
		"Not found is not a failure": {
			change: func(s *shelf, _ *tallying) {
				s.err = apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "c")
			},
			seen: []string{"demo", ""}, count: 0,
		},
		"A read fails": {
			change: func(s *shelf, _ *tallying) { s.err = broken },
			count:  3,
		},
		"A read fails, which a component reports": {
			change: func(s *shelf, r *tallying) {
				s.err = broken
				r.components = []health.Component{{Name: "Maps", Errors: []error{broken}}}
			},
			count: 3,
		},
		"A read is forbidden": {
			change: func(s *shelf, _ *tallying) {
				s.err = apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", errors.New("no permission"))
			},
			count: 3,
		},
		"A system outside rejects the spec": {
			change: func(s *shelf, _ *tallying) { s.err = health.NewError(health.InvalidSpec, "TooBig", "too big", nil) },
			seen:   []string{"demo", "TooBig: too big"}, count: 0,
		},
		"Planning fails": {
			change: func(s *shelf, r *tallying) { s.items, r.unplanned = 2, errors.New("no plan") },
			seen:   []string{"demo", "no plan"}, count: 2,
		},
		"A component blocks": {
			change: func(s *shelf, r *tallying) {
				s.items = 2
				missing := health.NewError(health.MissingUpstreamDependency, "Missing", "no gateway", nil)
				r.components = []health.Component{{Name: "Gateway", Dependency: health.Upstream, Errors: []error{missing}}}
			},
			seen: []string{"demo", "Missing: no gateway"}, count: 2,
		},
		"A phase panics": {
			change: func(s *shelf, r *tallying) { s.items, r.panics = 2, true },
			count:  3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{items: 3, stored: stored{widget: &widget.Widget{ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: "demo", UID: types.UID("1"), ResourceVersion: "1", Generation: 1,
			}}}}
			r := &tallying{}
			members := false // whether the owner is a group
			loop, err := pipeline.New(r, pipeline.Config{
				Name: "widgets", FieldManager: "widgets", Reader: s, Applier: s, StatusWriter: s,
				Decorate: func(client.Object, any) { members = true },
			})
			if err != nil {
				t.Fatal(err)
			}
			request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(s.widget)}
			if _, err := loop.Reconcile(t.Context(), request); err != nil || s.widget.Status.Count != 3 {
				t.Fatalf("first: count %d, error %v", s.widget.Status.Count, err)
			}
			r.seen, members = nil, false
			tc.change(s, r)
			_, _ = loop.Reconcile(t.Context(), request) // errors are checked in the status
			if diff := cmp.Diff(tc.seen, r.seen); diff != "" {
				t.Errorf("DecorateStatus got (-want +got):\n%s", diff)
			}
			if want := tc.seen != nil; members != want {
				t.Errorf("the members of a group are set: %t, want %t", members, want)
			}
			if got := s.widget.Status.Count; got != tc.count {
				t.Errorf("stored count %d, want %d", got, tc.count)
			}
			if !meta.IsStatusConditionTrue(s.widget.Status.Conditions, "Counted") {
				t.Errorf("the decorator's condition is gone: %v", s.types())
			}
		})
	}
}
