package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/internal/vectors"
)

// pods decodes pods from JSON and names those without a name a, b, ...
func pods(t *testing.T, texts ...string) []corev1.Pod {
	t.Helper()
	var list []corev1.Pod
	for i, text := range texts {
		var p corev1.Pod
		vectors.Decode(t, []byte(text), &p)
		if p.Name == "" {
			p.Name = string(rune('a' + i))
		}
		list = append(list, p)
	}
	return list
}

const (
	podReady   = `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
	podRunning = `{"status":{"phase":"Running"}}`
	podPending = `{"status":{"phase":"Pending"}}`
	podEvicted = `{"status":{"phase":"Failed","reason":"Evicted","message":"low on memory","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":137,"reason":"ContainerStatusUnknown"}}}]}}`
	podCrashes = `{"status":{"phase":"Running","containerStatuses":[{"name":"c","restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 40s"}},"lastState":{"terminated":{"exitCode":3,"reason":"Error","message":"no config"}}}]}}`
)

func TestPods(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		pods []string
		logs map[string]string
		want string
	}{
		"failed pod next to a ready one":     {[]string{podEvicted, podReady}, nil, "Ready PodsReady: Pods are ready"},
		"failed pod next to its replacement": {[]string{podEvicted, podPending}, nil, "Pending PodsPending: Pods are pending"},
		"all evicted":                        {[]string{podEvicted, podEvicted}, nil, "Degraded PodEvicted: low on memory [Infrastructure]"},
		"node shut down": {
			[]string{`{"status":{"phase":"Failed","reason":"NodeShutdown"}}`}, nil, "Degraded PodInterrupted: Pod failed [Infrastructure]",
		},
		"deadline": {
			[]string{`{"status":{"phase":"Failed","reason":"DeadlineExceeded","message":"too long"}}`},
			nil,
			"Failed PodDeadlineExceeded: too long [InvalidSpec]",
		},
		"crash loop":                     {[]string{podCrashes}, nil, "Degraded CrashLoopBackOff: Container c keeps crashing: exit code 3: no config"},
		"crash loop next to a ready pod": {[]string{podReady, podCrashes}, nil, "Degraded CrashLoopBackOff: Container c keeps crashing: exit code 3: no config"},
		"crash loop between two restarts": {
			[]string{`{"status":{"phase":"Running","containerStatuses":[{"name":"c","restartCount":2,"state":{"terminated":{"exitCode":1,"reason":"Error"}}}]}}`},
			nil, "Degraded CrashLoopBackOff: Container c keeps crashing: exit code 1",
		},
		"crash loop out of memory": {
			[]string{`{"status":{"phase":"Running","initContainerStatuses":[{"name":"i","state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}}]}}`},
			nil, "Failed PodOOMKilled: Container i keeps crashing: exit code 137 (OOMKilled) [ResourceExhaustion]",
		},
		"crash loop with a log": {
			[]string{podCrashes},
			map[string]string{"a": "2026-01-01T10:00:00Z ERROR 401 Unauthorized\nbye"},
			"Failed AuthError: Container c keeps crashing: exit code 3: no config\n\nLog excerpt:\nERROR 401 Unauthorized [Auth]",
		},
		"failed with a log": {
			[]string{`{"status":{"phase":"Failed","containerStatuses":[{"name":"ok","state":{"terminated":{"exitCode":0}}},{"name":"c","state":{"terminated":{"exitCode":1,"reason":"Error"}}}]}}`},
			map[string]string{"a": "one\nmodel x not found\nthree"},
			"Failed SourceNotFound: Container c failed with exit code 1\n\nLog excerpt:\nmodel x not found [InvalidSpec]",
		},
		"failed without permission": {
			[]string{`{"status":{"phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":1,"reason":"Error"}}}]}}`},
			map[string]string{"a": `secrets is forbidden: User "x" cannot get resource "secrets"`},
			`Degraded PodForbidden: Container c failed with exit code 1` + "\n\nLog excerpt:\n" +
				`secrets is forbidden: User "x" cannot get resource "secrets" [Infrastructure]`,
		},
		"failed with an unclassified log": {
			[]string{`{"status":{"phase":"Failed","initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":2}}}]}}`},
			map[string]string{"a": "one\ntwo\nthree\nfour\n"},
			"Failed PodFailed: Init container i failed with exit code 2\n\nLog excerpt:\ntwo\nthree\nfour [InvalidSpec]",
		},
		"invalid image name": {
			[]string{`{"status":{"phase":"Pending","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"InvalidImageName","message":"A:B"}}}]}}`},
			nil, "Failed InvalidImageName: Container c: A:B [InvalidSpec]",
		},
		"missing secret": {
			[]string{`{"status":{"phase":"Pending","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"CreateContainerConfigError","message":"secret \"s\" not found"}}}]}}`},
			nil, `Pending CreateContainerConfigError: Container c: secret "s" not found`,
		},
		"unschedulable": {
			[]string{`{"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes"}]}}`},
			nil, "Pending FailedScheduling: 0/3 nodes",
		},
		"terminating pods do not count": {
			[]string{`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, podRunning},
			nil, "Starting PodsStarting: Pods are running, waiting for readiness",
		},
		"only terminating pods": {
			[]string{`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Running"}}`},
			nil,
			"Progressing Terminating: Pods are being deleted",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := pods(t, tc.pods...)
			for range 2 {
				if got := summary(inspect.Pods(list, inspect.PodFacts{Logs: tc.logs})); got != tc.want {
					t.Errorf("got %s\nwant %s", got, tc.want)
				}
				slices.Reverse(list)
			}
		})
	}
}

func TestPodEvents(t *testing.T) {
	t.Parallel()
	event := func(pod, reason string, second int) corev1.Event {
		e := corev1.Event{Reason: reason, Message: reason + " " + pod}
		e.InvolvedObject.Name = pod
		e.EventTime = metav1.NewMicroTime(start.Add(time.Duration(second) * time.Second))
		return e
	}
	cases := map[string]struct {
		events []corev1.Event
		want   string
	}{
		"pulling": {[]corev1.Event{event("a", "Pulling", 1)}, "Progressing Pulling: Pulling a"},
		"a waiting event overrides a pulling event": {[]corev1.Event{event("a", "Pulling", 9), event("b", "FailedMount", 1)}, "Pending FailedMount: FailedMount b"},
		"latest":                  {[]corev1.Event{event("a", "FailedMount", 9), event("a", "FailedScheduling", 1)}, "Pending FailedMount: FailedMount a"},
		"event of another object": {[]corev1.Event{event("z", "FailedMount", 1)}, "Pending PodsPending: Pods are pending"},
		"event of a former pod of the same name": {
			[]corev1.Event{{Reason: "FailedMount", InvolvedObject: corev1.ObjectReference{Name: "a", UID: "other"}}}, "Pending PodsPending: Pods are pending",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := summary(inspect.Pods(pods(t, podPending, podPending), inspect.PodFacts{Events: tc.events})); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestClassifyLog(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                          "Unknown|",
		"request 4041 took 12ms":                    "Unknown|",
		"sh: serve: command not found":              "Unknown|",
		"first: 401\nlast: 403 here":                "Auth|last: 403 here",
		"401\nno such bucket":                       "ResourceNotFound|no such bucket",
		"[2026-01-01 10:00:00,123] disk full":       "StorageFull|disk full",
		"write: ENOSPC " + strings.Repeat("x", 400): "StorageFull|write: ENOSPC " + strings.Repeat("x", 239) + "...",
	} {
		class, line := inspect.ClassifyLog(text)
		if got := fmt.Sprintf("%s|%s", class, line); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
