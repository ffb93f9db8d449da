package predictor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/etcd"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/standin/store"
)

// TestNextModelFails checks that while one model is served, the copies of the next one are counted, too, and that the
// newest failure is reported with its location and time.
func TestNextModelFails(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var status v1alpha1.PredictorStatus
	update(&status, &mmesh.VModel{
		State: mmesh.VModelTransitionFailed, Active: "one", Target: "two",
		ActiveModel: &mmesh.Model{State: mmesh.Loaded, Copies: []mmesh.Copy{{State: mmesh.Loaded}, {State: mmesh.LoadingFailed}}},
		TargetModel: &mmesh.Model{State: mmesh.LoadingFailed, Errors: []string{"out of memory"}, Copies: []mmesh.Copy{
			{Location: "newest", State: mmesh.LoadingFailed, TimeMS: uint64(at.UnixMilli())}, //nolint:gosec // after 1970
			{Location: "older", State: mmesh.LoadingFailed, TimeMS: 1},
		}},
	}, at.Add(time.Hour))
	failedAt := metav1.NewTime(at)
	want := v1alpha1.PredictorStatus{
		Available: true, TransitionStatus: v1alpha1.BlockedByFailedLoad, ActiveModelState: v1alpha1.Loaded,
		TargetModelState: v1alpha1.FailedToLoad,
		TotalCopies:      4, FailedCopies: 3,
		LastFailureInfo: &v1alpha1.FailureInfo{
			Reason: v1alpha1.ModelLoadFailed, Message: "out of memory", ModelID: "two", Location: "newest", Time: &failedAt,
		},
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// TestPoll checks the polling interval of states that no event reports: the sooner a state may change, the shorter.
func TestPoll(t *testing.T) {
	t.Parallel()
	waits := &mmesh.Model{State: mmesh.LoadingFailed, Errors: []string{noPodsPrefix + "mt:onnx"}}
	for name, tc := range map[string]struct {
		active, target *mmesh.Model
		noInstances    bool
		failed         error
		want           time.Duration
	}{
		"no model":                   {},
		"loaded":                     {active: &mmesh.Model{State: mmesh.Loaded}},
		"loads":                      {active: &mmesh.Model{State: mmesh.Loading}, want: time.Second},
		"the next model loads":       {active: &mmesh.Model{State: mmesh.Loaded}, target: &mmesh.Model{State: mmesh.Loading}, want: time.Second},
		"waits for a pod":            {active: waits, want: 3 * time.Second},
		"the next model waits":       {active: &mmesh.Model{State: mmesh.Loading}, target: waits, want: 3 * time.Second},
		"no pod of ModelMesh":        {noInstances: true, want: 3 * time.Second},
		"ModelMesh is not installed": {failed: errors.New("away"), want: 3 * time.Second},
		"no compatible runtime":      {active: &mmesh.Model{State: mmesh.LoadingFailed, Errors: []string{noPodsPrefix + "mt:onnx [_no_runtime]"}}},
		"failed to load permanently": {active: &mmesh.Model{State: mmesh.LoadingFailed, Errors: []string{"broken"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o observed
			o.model.Error, o.model.Value.NoInstances = tc.failed, tc.noInstances
			o.model.Value.VModel = mmesh.VModel{ActiveModel: tc.active, TargetModel: tc.target}
			if got := o.poll(); got != tc.want {
				t.Errorf("polls again after %s, want %s", got, tc.want)
			}
		})
	}
}

// TestNoLongerAvailable checks that an InferenceService has no URL while its model does not respond, and that the
// condition has the reason.
func TestNoLongerAvailable(t *testing.T) {
	t.Parallel()
	var status v1beta1.InferenceServiceStatus
	status.Components = map[string]v1beta1.Component{"transformer": {URL: "http://kserve"}}
	cm := conditions.NewManager(nil, 1, time.Unix(0, 0))
	p := v1alpha1.PredictorStatus{Available: true, ActiveModelState: v1alpha1.Loaded, GRPCEndpoint: "grpc://m:1", HTTPEndpoint: "http://m:2"}
	setStatus(&status, cm, &p)
	want := v1beta1.Component{URL: "grpc://m:1", GRPCURL: "grpc://m:1", RESTURL: "http://m:2"}
	if status.URL != "grpc://m:1" || status.Components[component] != want {
		t.Errorf("available: %q, %+v, want %+v", status.URL, status.Components, want)
	}
	p.Available, p.LastFailureInfo = false, &v1alpha1.FailureInfo{Reason: v1alpha1.RuntimeUnhealthy, Message: waitingForPod}
	setStatus(&status, cm, &p)
	if diff := cmp.Diff(map[string]v1beta1.Component{"transformer": {URL: "http://kserve"}}, status.Components); diff != "" || status.URL != "" {
		t.Errorf("not available: URL %q, components (-want +got):\n%s", status.URL, diff)
	}
	for _, c := range cm.Conditions() {
		if c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.RuntimeUnhealthy || c.Message != waitingForPod {
			t.Errorf("condition %+v", c)
		}
	}
}

// TestCallFails checks that the state of a model is unknown, not missing, while no pod of ModelMesh runs. Every other
// failure of a call is an error, whatever its text is.
func TestCallFails(t *testing.T) {
	t.Parallel()
	type result struct {
		NoInstances bool
		Category    health.Category
		Reason      string
	}
	for name, tc := range map[string]struct {
		err  error
		want result
	}{
		"no pod runs":              {fmt.Errorf("%w: %w", mmesh.ErrNoInstances, status.Error(codes.Unavailable, "")), result{NoInstances: true}},
		"unavailable":              {status.Error(codes.Unavailable, ""), result{Category: health.Infrastructure, Reason: "ModelMeshUnavailable"}},
		"too slow":                 {status.Error(codes.DeadlineExceeded, ""), result{Category: health.Infrastructure, Reason: "ModelMeshUnavailable"}},
		"other source":             {status.Error(codes.AlreadyExists, ""), result{Category: health.Conflict, Reason: "OwnedByAnotherSource"}},
		"refused":                  {status.Error(codes.PermissionDenied, ""), result{Category: health.Auth, Reason: "ModelMeshRefused"}},
		"an error of gRPC":         {status.Error(codes.Internal, ""), result{Category: health.Unknown, Reason: "ModelMeshFailed"}},
		"an error of the operator": {errors.New("no certificate"), result{Category: health.Unknown, Reason: "ModelMeshFailed"}},
		"a DNS message": {
			status.Error(codes.Unavailable, "no such host"), result{Category: health.Infrastructure, Reason: "ModelMeshUnavailable"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := mesh{Mesh{Call: func(context.Context, string, func(context.Context, mmesh.Client) error) error { return tc.err }}, fromPredictors}
			for method, call := range map[string]func() (served, error){
				"observe": func() (served, error) { return m.Observe(t.Context(), "n/m") },
				"ensure":  func() (served, error) { return m.Ensure(t.Context(), "n/m", mmesh.SetRequest{}) },
			} {
				found, err := call()
				got := result{NoInstances: found.NoInstances}
				if err != nil {
					got.Category, got.Reason = classify(err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", method, diff)
				}
			}
		})
	}
}

// TestEventsOfDeletedOwners checks that an event without the source of its vmodel enqueues owners of each source, and
// that an event of another source enqueues none.
func TestEventsOfDeletedOwners(t *testing.T) {
	t.Parallel()
	s := store.New(t)
	target, err := etcd.NewTarget(&corev1.Secret{Data: map[string][]byte{etcd.Key: []byte(`{"endpoints":"` + s.URL + `","root_prefix":"r"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	events := etcd.NewEvents("n", false)
	events.Follow("n", "svc", target)
	heard, opened := make(chan string, 10), make(chan struct{}, 2)
	for _, source := range []string{fromPredictors, fromServices} {
		go func() {
			_ = mesh{Mesh{Events: events}, source}.Watch(
				t.Context(), func() { opened <- struct{}{} }, func(key string) { heard <- source + " " + key },
			)
		}()
	}
	for range 2 {
		<-opened
	}
	s.Put("r/mm/svc/vmodels/gone", "") // no record, so the source is unknown
	s.Delete("r/mm/svc/vmodels/gone")
	s.Put("r/mm/svc/vmodels/last", `{"o":"isvc"}`)
	got := map[string]int{}
	for range 3 {
		select {
		case event := <-heard:
			got[event]++
		case <-time.After(30 * time.Second):
			t.Fatalf("received %v, want three events", got)
		}
	}
	want := map[string]int{"ksp n/gone": 1, "isvc n/gone": 1, "isvc n/last": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestRemoveWithoutModelMesh checks that no call removes a vmodel of a ModelMesh that no longer exists.
func TestRemoveWithoutModelMesh(t *testing.T) {
	t.Parallel()
	unreadable := errors.New("the namespace cannot be read")
	for name, test := range map[string]struct {
		reason string
		err    error
		gone   bool
		called bool
	}{
		"exists": {called: true}, "gone": {reason: "its namespace is being deleted", gone: true}, "not known": {err: unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			called := false
			m := mesh{Mesh: Mesh{
				Call: func(context.Context, string, func(context.Context, mmesh.Client) error) error {
					called = true
					return nil
				},
				Gone: func(context.Context, string) (string, error) { return test.reason, test.err },
			}}
			err := m.Remove(t.Context(), "models/a")
			if errors.Is(err, external.ErrSystemGone) != test.gone || !errors.Is(err, test.err) && test.err != nil || called != test.called {
				t.Errorf("got %v, called %t, want gone %t, called %t", err, called, test.gone, test.called)
			}
		})
	}
}
