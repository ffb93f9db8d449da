package inspect_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/internal/vectors"
)

// object is the input of an inspector as JSON, so that the same text can be decoded typed and unstructured.
type object struct {
	json, want string
}

// summary formats a component on one line.
func summary(c health.Component) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: %s", c.GetState(), c.GetReason(), c.GetMessage())
	for _, err := range c.Errors {
		text.WriteString(" [" + health.Categorize(err).Category.String() + "]")
	}
	return text.String()
}

// inspected decodes the object typed and unstructured, and returns the result of Of if both are equal.
func inspected(t *testing.T, typed runtime.Object, apiVersion, kind, text string) string {
	t.Helper()
	vectors.Decode(t, []byte(text), typed)
	u := &unstructured.Unstructured{}
	vectors.Decode(t, []byte(text), &u.Object)
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	one, other := summary(inspect.Of(typed)), summary(inspect.Of(u))
	if one != other {
		t.Errorf("typed: %s\nunstructured: %s", one, other)
	}
	return one
}

func TestDeployment(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]object{
		"ready": {
			`{"metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":2,"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2}}`,
			"Ready DeploymentReady: Deployment is available",
		},
		"replicas unset": {
			`{"spec":{},"status":{"replicas":1,"updatedReplicas":1,"availableReplicas":1}}`,
			"Ready DeploymentReady: Deployment is available",
		},
		"not observed": {
			`{"metadata":{"generation":3},"status":{"observedGeneration":2,"replicas":1,"updatedReplicas":1,"availableReplicas":1}}`,
			"Progressing GenerationNotObserved: Deployment controller has not observed the latest generation",
		},
		"rolling":      {`{"spec":{"replicas":3},"status":{"replicas":4,"updatedReplicas":1,"availableReplicas":3}}`, "Progressing RolloutInProgress: 1 of 3 replicas are updated"},
		"old replicas": {`{"spec":{"replicas":1},"status":{"replicas":2,"updatedReplicas":1,"availableReplicas":2}}`, "Progressing RolloutInProgress: Waiting for old replicas to terminate"},
		"unavailable":  {`{"spec":{"replicas":3},"status":{"replicas":3,"updatedReplicas":3,"availableReplicas":1}}`, "Progressing ReplicasUnavailable: 1 of 3 replicas are available"},
		"paused": {
			`{"spec":{"replicas":3,"paused":true},"status":{"replicas":3,"updatedReplicas":1,"availableReplicas":3}}`,
			"Pending DeploymentPaused: Deployment is paused during a rollout",
		},
		"zero": {`{"spec":{"replicas":0},"status":{}}`, "Ready ScaledToZero: Deployment is scaled to zero"},
		"deadline exceeded, no replica available": {
			`{"spec":{"replicas":1},"status":{"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded","message":"timed out"}]}}`,
			"Failed ProgressDeadlineExceeded: timed out",
		},
		"deadline exceeded, old replicas available": {
			`{"spec":{"replicas":2},"status":{"replicas":3,"updatedReplicas":1,"availableReplicas":2,"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded","message":"timed out"}]}}`,
			"Degraded ProgressDeadlineExceeded: timed out",
		},
		"quota": {
			`{"spec":{"replicas":1},"status":{"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"pods \"a\" is forbidden: exceeded quota: q"}]}}`,
			`Failed QuotaExceeded: pods "a" is forbidden: exceeded quota: q [ResourceExhaustion]`,
		},
		"refused": {
			`{"spec":{"replicas":1},"status":{"availableReplicas":1,"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"no service account"}]}}`,
			"Degraded FailedCreate: no service account",
		},
		"paused, old replicas": {
			`{"spec":{"replicas":3,"paused":true},"status":{"replicas":4,"updatedReplicas":3,"availableReplicas":3}}`,
			"Pending DeploymentPaused: Deployment is paused during a rollout",
		},
		"terminating replicas": { // neither the controller's own conditions nor kubectl rollout status counts them
			`{"spec":{"replicas":1},"status":{"replicas":1,"updatedReplicas":1,"availableReplicas":1,"terminatingReplicas":1}}`,
			"Ready DeploymentReady: Deployment is available",
		},
		"going": {`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`, "Progressing Terminating: Deployment is being deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := inspected(t, &appsv1.Deployment{}, "apps/v1", "Deployment", o.json); got != o.want {
				t.Errorf("got %s, want %s", got, o.want)
			}
		})
	}
}

func TestStatefulSet(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]object{
		"ready": {
			`{"metadata":{"generation":1},"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":2,"readyReplicas":2,"updatedReplicas":2,"currentRevision":"a","updateRevision":"a"}}`,
			"Ready StatefulSetReady: StatefulSet is available",
		},
		"not observed": {
			`{"metadata":{"generation":1},"status":{}}`, "Progressing GenerationNotObserved: StatefulSet controller has not observed the latest generation",
		},
		"not ready": {`{"spec":{"replicas":2},"status":{"replicas":2,"readyReplicas":1}}`, "Progressing ReplicasUnavailable: 1 of 2 replicas are ready"},
		"too many":  {`{"spec":{"replicas":1},"status":{"replicas":2,"readyReplicas":2}}`, "Progressing ScalingDown: 1 replicas too many"},
		"rolling": {
			`{"spec":{"replicas":3,"updateStrategy":{"type":"RollingUpdate"}},"status":{"replicas":3,"readyReplicas":3,"updatedReplicas":2,"currentRevision":"a","updateRevision":"b"}}`,
			"Progressing RolloutInProgress: 2 of 3 replicas are updated",
		},
		"partition reached": {
			`{"spec":{"replicas":3,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2}}},"status":{"replicas":3,"readyReplicas":3,"updatedReplicas":1,"currentRevision":"a","updateRevision":"b"}}`,
			"Ready StatefulSetReady: StatefulSet is available",
		},
		"rolled back": {
			`{"spec":{"replicas":3,"updateStrategy":{"type":"RollingUpdate"}},"status":{"replicas":3,"readyReplicas":3,"currentReplicas":1,"updatedReplicas":1,"currentRevision":"a","updateRevision":"a"}}`,
			"Progressing RolloutInProgress: 1 of 3 replicas are updated",
		},
		"one revision, counted as current": {
			`{"spec":{"replicas":2},"status":{"replicas":2,"readyReplicas":2,"currentReplicas":2,"currentRevision":"a","updateRevision":"a"}}`,
			"Ready StatefulSetReady: StatefulSet is available",
		},
		"partition not reached": {
			`{"spec":{"replicas":3,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":1}}},"status":{"replicas":3,"readyReplicas":3,"updatedReplicas":1,"currentRevision":"a","updateRevision":"b"}}`,
			"Progressing RolloutInProgress: 1 of 2 replicas are updated",
		},
		"on delete": {
			`{"spec":{"replicas":1,"updateStrategy":{"type":"OnDelete"}},"status":{"replicas":1,"readyReplicas":1,"currentRevision":"a","updateRevision":"b"}}`,
			"Ready StatefulSetReady: StatefulSet is available",
		},
		"ready for less than minReadySeconds": {
			`{"spec":{"replicas":1,"minReadySeconds":60},"status":{"replicas":1,"readyReplicas":1}}`,
			"Progressing ReplicasUnavailable: 0 of 1 replicas are available",
		},
		"zero": {`{"spec":{"replicas":0},"status":{}}`, "Ready ScaledToZero: StatefulSet is scaled to zero"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := inspected(t, &appsv1.StatefulSet{}, "apps/v1", "StatefulSet", o.json); got != o.want {
				t.Errorf("got %s, want %s", got, o.want)
			}
		})
	}
}

func TestDaemonSet(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]object{
		"ready": {
			`{"status":{"desiredNumberScheduled":2,"currentNumberScheduled":2,"updatedNumberScheduled":2,"numberAvailable":2}}`,
			"Ready DaemonSetReady: DaemonSet is available",
		},
		"not observed": {
			`{"metadata":{"generation":2},"status":{"observedGeneration":1}}`,
			"Progressing GenerationNotObserved: DaemonSet controller has not observed the latest generation",
		},
		"scheduling":  {`{"status":{"desiredNumberScheduled":2,"currentNumberScheduled":1}}`, "Progressing ReplicasUnavailable: 1 of 2 replicas are scheduled"},
		"rolling":     {`{"status":{"desiredNumberScheduled":2,"currentNumberScheduled":2,"updatedNumberScheduled":1,"numberAvailable":2}}`, "Progressing RolloutInProgress: 1 of 2 replicas are updated"},
		"on delete":   {`{"spec":{"updateStrategy":{"type":"OnDelete"}},"status":{"desiredNumberScheduled":1,"currentNumberScheduled":1,"numberAvailable":1}}`, "Ready DaemonSetReady: DaemonSet is available"},
		"unavailable": {`{"status":{"desiredNumberScheduled":1,"currentNumberScheduled":1,"updatedNumberScheduled":1}}`, "Progressing ReplicasUnavailable: 0 of 1 replicas are available"},
		"no node":     {`{"status":{}}`, "Ready NoNodeMatches: DaemonSet matches no node"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := inspected(t, &appsv1.DaemonSet{}, "apps/v1", "DaemonSet", o.json); got != o.want {
				t.Errorf("got %s, want %s", got, o.want)
			}
		})
	}
}

func TestJob(t *testing.T) {
	t.Parallel()
	condition := func(kind, reason string) string {
		return fmt.Sprintf(`{"status":{"conditions":[{"type":"%s","status":"True","reason":"%s","message":"why"}]}}`, kind, reason)
	}
	for name, o := range map[string]object{
		"complete":  {condition("Complete", ""), "Ready JobComplete: Job is complete"},
		"deadline":  {condition("Failed", "DeadlineExceeded"), "Failed JobDeadlineExceeded: why [InvalidSpec]"},
		"evicted":   {condition("Failed", "Evicted"), "Degraded JobEvicted: why [Infrastructure]"},
		"policy":    {condition("Failed", "PodFailurePolicy"), "Failed JobFailed: why [InvalidSpec]"},
		"suspended": {condition("Suspended", ""), "Pending JobSuspended: Job is suspended"},
		"failing":   {condition("FailureTarget", "BackoffLimitExceeded"), "Progressing JobRunning: Job is failing, its pods are terminating: why"},
		"succeeding": {
			condition("SuccessCriteriaMet", "SuccessPolicy"), "Progressing JobRunning: Job is completing, its pods are terminating",
		},
		"going": {`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`, "Progressing Terminating: Job is being deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := inspected(t, &batchv1.Job{}, "batch/v1", "Job", o.json); got != o.want {
				t.Errorf("got %s, want %s", got, o.want)
			}
		})
	}
}

func TestServiceAndClaim(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]object{
		"cluster ip": {`{"spec":{"type":"ClusterIP"}}`, "Ready ServiceReady: Service exists"},
		"waiting":    {`{"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{}]}}}`, "Pending LoadBalancerPending: Load balancer has no address yet"},
		"address":    {`{"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"hostname":"a.example.com"}]}}}`, "Ready ServiceReady: Load balancer has an address"},
		"going":      {`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`, "Progressing Terminating: Service is being deleted"},
	} {
		t.Run("service "+name, func(t *testing.T) {
			t.Parallel()
			if got := inspected(t, &corev1.Service{}, "v1", "Service", o.json); got != o.want {
				t.Errorf("got %s, want %s", got, o.want)
			}
		})
	}
	if got, want := inspected(t, &corev1.PersistentVolumeClaim{}, "v1", "PersistentVolumeClaim", `{"status":{"phase":"Bound"}}`),
		"Ready PvcBound: PVC is bound"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHorizontalPodAutoscaler(t *testing.T) {
	t.Parallel()
	scaler := func(replicas int, conditions ...string) string {
		list := make([]json.RawMessage, 0, len(conditions))
		for _, c := range conditions {
			list = append(list, json.RawMessage(c))
		}
		raw, err := json.Marshal(map[string]any{"status": map[string]any{"currentReplicas": replicas, "conditions": list}})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	const (
		able   = `{"type":"AbleToScale","status":"True"}`
		unable = `{"type":"AbleToScale","status":"False","message":"no target"}`
		active = `{"type":"ScalingActive","status":"True"}`
		blind  = `{"type":"ScalingActive","status":"False","reason":"FailedGetResourceMetric","message":"no metrics"}`
		off    = `{"type":"ScalingActive","status":"False","reason":"ScalingDisabled","message":"scaled to zero"}`
	)
	for name, o := range map[string]object{
		"operational":  {scaler(1, active, able), "Ready HPAOperational: Autoscaler is operational"},
		"new":          {scaler(0), "Progressing WaitingForMetrics: Autoscaler has not computed a scale yet"},
		"no metrics":   {scaler(2, able, blind), "Degraded MetricsFailed: no metrics"},
		"no replicas":  {scaler(0, able, blind), "Progressing WaitingForMetrics: no metrics"},
		"no target":    {scaler(2, unable, active), "Progressing ScaleTargetNotReady: no target"},
		"off":          {scaler(0, able, off), "Ready ScalingDisabled: scaled to zero"},
		"not observed": {`{"metadata":{"generation":2},"status":{"observedGeneration":1}}`, "Progressing GenerationNotObserved: HorizontalPodAutoscaler controller has not observed the latest generation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := inspected(t, &autoscalingv2.HorizontalPodAutoscaler{}, "autoscaling/v2", "HorizontalPodAutoscaler", o.json)
			if got != o.want {
				t.Errorf("got %s, want %s", got, o.want)
			}
		})
	}
}

func TestNothing(t *testing.T) {
	t.Parallel()
	want := map[string]health.Component{
		"DeploymentNotFound":  inspect.Of((*appsv1.Deployment)(nil)),
		"StatefulSetNotFound": inspect.Of((*appsv1.StatefulSet)(nil)),
		"DaemonSetNotFound":   inspect.Of((*appsv1.DaemonSet)(nil)),
		"ReplicaSetNotFound":  inspect.Of((*appsv1.ReplicaSet)(nil)),
		"JobNotFound":         inspect.Of((*batchv1.Job)(nil)),
		"ServiceNotFound":     inspect.Of((*corev1.Service)(nil)),
		"PvcNotFound":         inspect.Of((*corev1.PersistentVolumeClaim)(nil)),
		"HPANotFound":         inspect.Of((*autoscalingv2.HorizontalPodAutoscaler)(nil)),
		"HTTPRouteNotFound":   inspect.Of((*gatewayv1.HTTPRoute)(nil)),
		"NoPods":              inspect.Of((*corev1.Pod)(nil)),
		"ObjectNotFound":      inspect.Of[runtime.Object](nil),
	}
	for reason, c := range want {
		if got := health.Categorize(c.Errors[0]); got.Reason != reason || got.Category != health.MissingDownstreamDependency {
			t.Errorf("%s: %v", reason, got)
		}
	}
	for _, obj := range []runtime.Object{(*unstructured.Unstructured)(nil), (*corev1.ConfigMap)(nil)} {
		if got := inspect.Of(obj).GetReason(); got != "ObjectNotFound" {
			t.Errorf("%T: %s", obj, got)
		}
	}
	if got := inspect.Of((*corev1.PodList)(nil)).GetReason(); got != "NoPods" {
		t.Errorf("pod list: %s", got)
	}
}

func TestAnyKind(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]object{
		"no status": {`{"metadata":{"generation":1}}`, "Ready Exists: Widget exists"},
		"ready":     {`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Fine","message":"works"}]}}`, "Ready Fine: works"},
		"not ready": {`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Busy","message":"soon"}]}}`, "Progressing Busy: soon"},
		"unknown":   {`{"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`, "Progressing NotReady: "},
		"stalled": {
			`{"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Stalled","status":"True","reason":"Stuck","message":"no way"}]}}`,
			"Failed Stuck: no way",
		},
		"reconciling": {
			`{"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Reconciling","status":"True","message":"at it"}]}}`,
			"Progressing Reconciling: at it",
		},
		"degraded":    {`{"status":{"conditions":[{"type":"Degraded","status":"True","message":"half"},{"type":"Ready","status":"True"}]}}`, "Degraded Degraded: half"},
		"available":   {`{"status":{"conditions":[{"type":"Available","status":"True"}]}}`, "Ready Available: "},
		"unavailable": {`{"status":{"conditions":[{"type":"Available","status":"False","message":"gone"}]}}`, "NotAvailable NotAvailable: gone"},
		"ready before available": {
			`{"status":{"conditions":[{"type":"Available","status":"True"},{"type":"Ready","status":"False","reason":"R"}]}}`, "Progressing R: ",
		},
		"object not observed": {
			`{"metadata":{"generation":2},"status":{"observedGeneration":1,"conditions":[{"type":"Ready","status":"True"}]}}`,
			"Progressing GenerationNotObserved: Widget controller has not observed the latest generation",
		},
		"condition not observed": {
			`{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":1}]}}`,
			"Progressing GenerationNotObserved: Widget controller has not observed the latest generation",
		},
		"going": {`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`, "Progressing Terminating: Widget is being deleted"},
		"odd":   {`{"metadata":{"generation":"x"},"status":{"conditions":[1,{"type":3}],"observedGeneration":null}}`, "Ready Exists: Widget exists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := &unstructured.Unstructured{}
			vectors.Decode(t, []byte(o.json), &u.Object)
			u.SetAPIVersion("example.com/v1")
			u.SetKind("Widget")
			if got := summary(inspect.Of(u)); got != o.want {
				t.Errorf("got %s, want %s", got, o.want)
			}
		})
	}
	if got, want := summary(inspect.Of(&corev1.ConfigMap{})), "Ready Exists: ConfigMap exists"; got != want {
		t.Errorf("typed: got %s, want %s", got, want)
	}
	node := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: "Ready", Status: "False", Reason: "KubeletNotReady"}}}}
	if got, want := summary(inspect.Of(node)), "Progressing KubeletNotReady: "; got != want {
		t.Errorf("typed: got %s, want %s", got, want)
	}
	wrong := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "spec": "no"}}
	if c := inspect.Of(wrong); c.GetReason() != "ObjectUnreadable" || c.GetState() == health.Ready {
		t.Errorf("an object that cannot be read: %v", summary(c))
	}
}

func TestByConditions(t *testing.T) {
	t.Parallel()
	u := &unstructured.Unstructured{}
	vectors.Decode(t, []byte(`{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"generation":2},"status":{"conditions":[
		{"type":"Programmed","status":"True","reason":"Done","message":"all"},
		{"type":"Accepted","status":"False","reason":"No","message":"not so"},
		{"type":"Old","status":"True","observedGeneration":1},
		{"type":"Ready","status":"True","reason":"Fine"}]}}`), &u.Object)
	cases := map[string]struct {
		types []string
		want  string
	}{
		"true":     {[]string{"Ready", "Programmed"}, "Ready Done: all"},
		"false":    {[]string{"Programmed", "Accepted"}, "Progressing No: not so"},
		"missing":  {[]string{"Seen"}, "Progressing ConditionMissing: Widget does not report Seen yet"},
		"outdated": {[]string{"Old"}, "Progressing ConditionMissing: Widget does not report Old yet"},
		"none":     {nil, "Ready Fine: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := summary(inspect.ByConditions(u, tc.types...)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	if got := inspect.ByConditions(nil, "Ready").GetReason(); got != "ObjectNotFound" {
		t.Errorf("nil: %s", got)
	}
}
