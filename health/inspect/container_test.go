package inspect_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
)

// failedWith returns a pod in phase Failed with these container statuses.
func failedWith(field, statuses string) string {
	return fmt.Sprintf(`{"status":{"phase":"Failed",%q:[%s]}}`, field, statuses)
}

// TestFailedPods checks the message and category for each way in which containers end.
func TestFailedPods(t *testing.T) {
	t.Parallel()
	const containers, inits = "containerStatuses", "initContainerStatuses"
	for name, tc := range map[string]struct{ pod, log, want string }{
		"no reason":         {`{"status":{"phase":"Failed"}}`, "", "Failed PodFailed: Pod failed [InvalidSpec]"},
		"only a message":    {`{"status":{"phase":"Failed","message":"gone wrong"}}`, "", "Failed PodFailed: gone wrong [InvalidSpec]"},
		"only a reason":     {`{"status":{"phase":"Failed","reason":"Strange"}}`, "", "Failed PodFailed: Pod failed [InvalidSpec]"},
		"preempted":         {`{"status":{"phase":"Failed","reason":"Preempting","message":"by b"}}`, "", "Degraded PodInterrupted: by b [Infrastructure]"},
		"refused by a node": {`{"status":{"phase":"Failed","reason":"UnexpectedAdmissionError","message":"no GPU"}}`, "", "Degraded PodInterrupted: no GPU [Infrastructure]"},
		"an exit code and a message": {
			failedWith(containers, `{"name":"c","state":{"terminated":{"exitCode":2,"message":"bad flag"}}}`), "",
			"Failed PodFailed: Container c failed with exit code 2: bad flag [InvalidSpec]",
		},
		"a message without an exit code": {
			failedWith(containers, `{"name":"c","state":{"terminated":{"exitCode":0,"message":"done, badly"}}}`), "",
			"Failed PodFailed: done, badly [InvalidSpec]",
		},
		"a reason without an exit code": {
			failedWith(containers, `{"name":"c","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}`), "",
			"Failed PodFailed: Container c terminated with reason: Completed [InvalidSpec]",
		},
		"no exit code, reason or message": {
			failedWith(containers, `{"name":"c","state":{"terminated":{"exitCode":0}}}`), "", "Failed PodFailed: Pod failed [InvalidSpec]",
		},
		"the container with an exit code is reported": {
			failedWith(containers, `{"name":"a","state":{"terminated":{"exitCode":0,"message":"fine"}}},{"name":"b","state":{"running":{}}},{"name":"c","state":{"terminated":{"exitCode":1}}}`),
			"", "Failed PodFailed: Container c failed with exit code 1 [InvalidSpec]",
		},
		"out of memory": {
			failedWith(containers, `{"name":"c","state":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}}`), "401 unauthorized",
			"Failed PodOOMKilled: Container c failed with exit code 137 [ResourceExhaustion]",
		},
		"an init container": {
			failedWith(inits, `{"name":"i","state":{"terminated":{"exitCode":1,"message":"no space left on device"}}}`), "",
			"Failed PodFailed: Init container i failed with exit code 1: no space left on device [InvalidSpec]",
		},
		"a full disk in the log": {
			failedWith(containers, `{"name":"c","state":{"terminated":{"exitCode":1}}}`), "cp: ENOSPC",
			"Failed StorageFull: Container c failed with exit code 1\n\nLog excerpt:\ncp: ENOSPC [ResourceExhaustion]",
		},
		"the log of a successful container is ignored": {
			failedWith(containers, `{"name":"c","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}`), "401 unauthorized",
			"Failed PodFailed: Container c terminated with reason: Completed [InvalidSpec]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := summary(inspect.Pods(pods(t, tc.pod), inspect.PodFacts{Logs: map[string]string{"a": tc.log}}))
			if got != tc.want {
				t.Errorf("got %s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestImagePulls checks the category of each registry error.
func TestImagePulls(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]health.Category{
		"unauthorized: authentication required":          health.Auth,
		"pull access denied for x, repository":           health.Auth,
		"unexpected status code 403":                     health.Auth,
		"failed to resolve: 401 and 404":                 health.Auth, // registries also respond 401 for missing images
		"manifest unknown":                               health.MissingUpstreamDependency,
		"docker.io/library/x:1: not found":               health.MissingUpstreamDependency,
		"unexpected status 404":                          health.MissingUpstreamDependency,
		"dial tcp: lookup registry.example: i/o timeout": health.Infrastructure,
		"":                            health.Infrastructure,
		"sha256:4041 is not complete": health.Infrastructure,
	} {
		for _, reason := range []string{"ErrImagePull", "ImagePullBackOff"} {
			p := corev1.Pod{}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
				Name: "c", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: text}},
			}}
			c := inspect.Pods([]corev1.Pod{p}, inspect.PodFacts{})
			if len(c.Errors) != 1 || health.Categorize(c.Errors[0]).Category != want || c.GetMessage() != "Container c: "+text {
				t.Errorf("%s %q: %s, want %s", reason, text, summary(c), want)
			}
		}
	}
}

// TestCrashing checks that a terminated container counts as crashing only if it will be restarted.
func TestCrashing(t *testing.T) {
	t.Parallel()
	const loop = "CrashLoopBackOff"
	for name, tc := range map[string]struct {
		status, policy, phase string
		want                  string
	}{
		"restarted":                  {`"restartCount":1,"state":{"terminated":{"exitCode":1}}`, "Always", "Running", loop},
		"on failure":                 {`"restartCount":1,"state":{"terminated":{"exitCode":1}}`, "OnFailure", "Running", loop},
		"never restarted":            {`"restartCount":1,"state":{"terminated":{"exitCode":1}}`, "Never", "Running", "PodsStarting"},
		"the first crash":            {`"restartCount":0,"state":{"terminated":{"exitCode":1}}`, "Always", "Running", "PodsStarting"},
		"exit code 0":                {`"restartCount":1,"state":{"terminated":{"exitCode":0}}`, "Always", "Running", "PodsStarting"},
		"the pod succeeded":          {`"restartCount":1,"state":{"terminated":{"exitCode":1}}`, "Always", "Succeeded", "PodsReady"},
		"waiting":                    {`"state":{"waiting":{"reason":"CrashLoopBackOff"}}`, "Always", "Running", loop},
		"waiting for another reason": {`"state":{"waiting":{"reason":"ContainerCreating"}}`, "Always", "Pending", "PodsPending"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := fmt.Sprintf(`{"spec":{"restartPolicy":%q},"status":{"phase":%q,"containerStatuses":[{"name":"c",%s}]}}`, tc.policy, tc.phase, tc.status)
			if got := inspect.Pods(pods(t, text), inspect.PodFacts{}).GetReason(); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
