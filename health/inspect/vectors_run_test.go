package inspect_test

import (
	"encoding/json"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
)

// decided are the cases of testdata/vectors.json in which this package behaves otherwise on purpose: why, and what of the result
// differs (see override).
var decided = map[string]struct{ reason, want string }{
	"pods: CrashLoopBackOff is not special": {
		"a status says why something is not ready",
		`{"state": "Degraded", "reason": "CrashLoopBackOff", "message": "Container c keeps crashing"}`,
	},
	"pods: InvalidImageName is not special": {
		"a status says why something is not ready; this one never gets ready by itself",
		`{"state": "Failed", "reason": "InvalidImageName", "message": "Container c: x", "errorCategories": ["InvalidSpec"]}`,
	},
	"pods: failed wins over ready": {
		"a failed pod left over beside a healthy one is no trouble",
		`{"state": "Ready", "reason": "PodsReady", "message": "Pods are ready", "errorCategories": null}`,
	},
	"route: accepted unknown counts as rejected": {
		"Unknown is what a route starts with, before a gateway has looked at it",
		`{"state": "Progressing", "reason": "HTTPRoutePending", "errorCategories": null,
			"message": "HTTPRoute is waiting for gateway acceptance: wait"}`,
	},
	"route: accepted but refs unresolved, Accepted first": {
		"quirk: the order of conditions does not matter",
		`{"state": "Progressing", "reason": "BackendNotFound", "errorCategories": ["MissingDownstreamDependency"],
			"message": "HTTPRoute backend not resolved: no svc"}`,
	},
	"route: first parent accepts, second rejects": {
		"all parents count",
		`{"state": "Degraded", "reason": "NotAllowedByListeners", "message": "HTTPRoute rejected: no"}`,
	},
}

// kept are the cases marked as quirk whose recorded result is nevertheless right.
var kept = map[string]string{
	"route: refs unresolved first": "this order of conditions has the result that every order has now",
}

// result is a component as the vectors have it.
func result(c health.Component) map[string]any {
	out := map[string]any{"state": c.GetState(), "reason": c.GetReason(), "message": c.GetMessage()}
	if c.Name != "" {
		out["component"] = c.Name
	}
	var categories []string
	for _, err := range c.Errors {
		categories = append(categories, health.Categorize(err).Category.String())
	}
	if categories != nil {
		out["errorCategories"] = categories
	}
	return out
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
	decode(t, input, &in)
	facts := inspect.PodFacts{}
	for _, e := range in.Events {
		event := corev1.Event{Reason: e.Reason, Message: e.Message}
		event.LastTimestamp = metav1.NewTime(start.Add(time.Duration(e.At) * time.Second))
		event.InvolvedObject.Name = in.Pods[0].Name
		facts.Events = append(facts.Events, event)
	}
	return result(inspect.Pods(in.Pods, facts))
}

func runLog(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ Logs string }
	decode(t, input, &in)
	class, line := inspect.ClassifyLog(in.Logs)
	return map[string]any{"category": class, "line": line}
}

func runJob(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ Job *batchv1.Job }
	decode(t, input, &in)
	return result(inspect.Of(in.Job))
}

func runPVC(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ PVC *corev1.PersistentVolumeClaim }
	decode(t, input, &in)
	return result(inspect.Of(in.PVC))
}

func runRoute(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ Route *gatewayv1.HTTPRoute }
	decode(t, input, &in)
	return result(inspect.Of(in.Route))
}
