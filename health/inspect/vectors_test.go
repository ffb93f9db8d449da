package inspect_test

import (
	"encoding/json"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/internal/vectors"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// decided has the cases of testdata/vectors.json in which this package differs on purpose: the reason, and the differing
// fields.
var decided = map[string]vectors.Decision{
	"pods: CrashLoopBackOff is not special": {
		Reason: "a status reports why a pod is not ready",
		Want:   `{"state": "Degraded", "reason": "CrashLoopBackOff", "message": "Container c keeps crashing"}`,
	},
	"pods: InvalidImageName is not special": {
		Reason: "a status reports why a pod is not ready; this pod never becomes ready by itself",
		Want:   `{"state": "Failed", "reason": "InvalidImageName", "message": "Container c: x", "errorCategories": ["InvalidSpec"]}`,
	},
	"pods: failed wins over ready": {
		Reason: "a failed pod next to a healthy one is not a failure",
		Want:   `{"state": "Ready", "reason": "PodsReady", "message": "Pods are ready", "errorCategories": null}`,
	},
	"route: accepted unknown counts as rejected": {
		Reason: "a new route is Unknown until a gateway reports a status",
		Want: `{"state": "Progressing", "reason": "HTTPRoutePending", "errorCategories": null,
			"message": "HTTPRoute is waiting for gateway acceptance: wait"}`,
	},
	"route: accepted but refs unresolved, Accepted first": {
		Reason: "quirk: the order of conditions does not matter",
		Want: `{"state": "Progressing", "reason": "BackendNotFound", "errorCategories": ["MissingDownstreamDependency"],
			"message": "HTTPRoute backend not resolved: no svc"}`,
	},
	"route: first parent accepts, second rejects": {
		Reason: "all parents are evaluated",
		Want:   `{"state": "Degraded", "reason": "NotAllowedByListeners", "message": "HTTPRoute rejected: no"}`,
	},
}

// kept has the cases marked as quirks whose recorded result is nevertheless correct.
var kept = map[string]string{
	"route: refs unresolved first": "the order of the conditions no longer changes the result",
}

func TestVectors(t *testing.T) {
	t.Parallel()
	vectors.Suite{
		Path: "testdata/vectors.json", Decided: decided, Kept: kept,
		Run: map[string]func(*testing.T, json.RawMessage) any{
			"podsHealth": runPods, "podsHealthEvents": runPods, "logCategory": runLog,
			"jobHealth": runJob, "pvcHealth": runPVC, "routeHealth": runRoute,
		},
	}.Test(t)
}

func runPods(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct {
		Pods   []corev1.Pod
		Events []struct {
			At              int
			Reason, Message string
		}
	}
	vectors.Decode(t, input, &in)
	facts := inspect.PodFacts{}
	for _, e := range in.Events {
		event := corev1.Event{Reason: e.Reason, Message: e.Message}
		event.LastTimestamp = metav1.NewTime(start.Add(time.Duration(e.At) * time.Second))
		event.InvolvedObject.Name = in.Pods[0].Name
		facts.Events = append(facts.Events, event)
	}
	return vectors.Result(inspect.Pods(in.Pods, facts))
}

func runLog(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ Logs string }
	vectors.Decode(t, input, &in)
	class, line := inspect.ClassifyLog(in.Logs)
	return map[string]any{"category": class, "line": line}
}

func runJob(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ Job *batchv1.Job }
	vectors.Decode(t, input, &in)
	return vectors.Result(inspect.Of(in.Job))
}

func runPVC(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ PVC *corev1.PersistentVolumeClaim }
	vectors.Decode(t, input, &in)
	return vectors.Result(inspect.Of(in.PVC))
}

func runRoute(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ Route *gatewayv1.HTTPRoute }
	vectors.Decode(t, input, &in)
	return vectors.Result(inspect.Of(in.Route))
}
