package inspect_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/health/inspect"
)

func TestRun(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	container := func(name string, state corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: state}
	}
	waits := func(reason string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "m"}}
	}
	ended := func(code int32, reason string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: "m"}}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	main := func(states ...corev1.ContainerState) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			for i, s := range states {
				p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, container([]string{"main", "side"}[i], s))
			}
		}
	}
	first := func(state corev1.ContainerState) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{container("init", state)}
			main(waits("PodInitializing"))(p)
		}
	}
	phase := func(phase corev1.PodPhase, reason, message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason, p.Status.Message = phase, reason, message }
	}
	all := func(changes ...func(*corev1.Pod)) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			for _, change := range changes {
				change(p)
			}
		}
	}
	restarts := func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }
	unschedulable := func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodPending
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "no GPU",
			LastTransitionTime: metav1.NewTime(start),
		}}
	}
	sidecar := all(first(ended(143, "Error")), func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "init", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
	})
	type want struct {
		phase          corev1.PodPhase
		container, why string
		again          time.Duration
	}
	for name, c := range map[string]struct {
		run   inspect.Run
		pod   func(*corev1.Pod)
		after time.Duration
		want  want
	}{
		"no status":                   {pod: func(*corev1.Pod) {}, want: want{phase: corev1.PodPending}},
		"container creating":          {pod: main(waits("ContainerCreating")), want: want{phase: corev1.PodPending}},
		"no reason yet":               {pod: main(waits("")), want: want{phase: corev1.PodPending}},
		"init container runs":         {pod: first(running), want: want{phase: corev1.PodPending}},
		"init container is done":      {pod: first(ended(0, "Completed")), want: want{phase: corev1.PodPending}},
		"init container fails":        {pod: first(ended(1, "Error")), want: want{phase: corev1.PodFailed, container: "init", why: "Error"}},
		"a sidecar ends":              {pod: sidecar, want: want{phase: corev1.PodPending}},
		"image pull failed":           {pod: main(waits("ImagePullBackOff")), want: want{phase: corev1.PodFailed, container: "main", why: "ImagePullBackOff"}},
		"runs":                        {pod: main(running), want: want{phase: corev1.PodRunning}},
		"one container still running": {pod: main(ended(0, ""), running), want: want{phase: corev1.PodRunning}},
		"all have ended":              {pod: main(ended(0, ""), ended(0, "Completed")), want: want{phase: corev1.PodSucceeded}},
		"one has failed":              {pod: main(running, ended(3, "")), want: want{phase: corev1.PodFailed, container: "side", why: "exit code 3"}},
		"killed with exit code 0":     {pod: main(ended(0, "OOMKilled")), want: want{phase: corev1.PodFailed, container: "main", why: "OOMKilled"}},
		"restarted":                   {pod: all(main(ended(1, "Error")), restarts), want: want{phase: corev1.PodPending}},
		"not restarted after the pod failed": {
			pod:  all(main(ended(1, "Error")), restarts, phase(corev1.PodFailed, "", "")),
			want: want{phase: corev1.PodFailed, container: "main", why: "Error"},
		},
		"keeps crashing": {
			pod: all(main(waits("CrashLoopBackOff")), restarts), want: want{phase: corev1.PodFailed, container: "main", why: "CrashLoopBackOff"},
		},
		"evicted while it ran":              {pod: all(main(running), phase(corev1.PodFailed, "Evicted", "disk")), want: want{phase: corev1.PodFailed, why: "Evicted"}},
		"failed with a text":                {pod: phase(corev1.PodFailed, "", "node lost"), want: want{phase: corev1.PodFailed, why: "node lost"}},
		"failed without reason and message": {pod: phase(corev1.PodFailed, "", ""), want: want{phase: corev1.PodFailed, why: "pod failed"}},
		"succeeded, no status":              {pod: phase(corev1.PodSucceeded, "", ""), want: want{phase: corev1.PodSucceeded}},
		"unschedulable without a limit":     {pod: unschedulable, after: time.Hour, want: want{phase: corev1.PodPending}},
		"unschedulable within the limit": {
			run: inspect.Run{Unschedulable: time.Minute}, pod: unschedulable, after: 20 * time.Second,
			want: want{phase: corev1.PodPending, again: 40 * time.Second},
		},
		"unschedulable beyond the limit": {
			run: inspect.Run{Unschedulable: time.Minute}, pod: unschedulable, after: time.Minute,
			want: want{phase: corev1.PodFailed, why: corev1.PodReasonUnschedulable},
		},
		"scheduled after the limit": {
			run: inspect.Run{Unschedulable: time.Minute}, pod: all(unschedulable, phase(corev1.PodRunning, "", ""), main(running)), after: time.Hour,
			want: want{phase: corev1.PodRunning},
		},
		"ignores other containers": {
			run: inspect.Run{Containers: []string{"main"}}, pod: main(ended(0, ""), ended(1, "Error")), want: want{phase: corev1.PodSucceeded},
		},
		"order of the given names": {
			run: inspect.Run{Containers: []string{"side", "main"}}, pod: main(ended(1, "Error"), ended(2, "OOMKilled")),
			want: want{phase: corev1.PodFailed, container: "side", why: "OOMKilled"},
		},
		"Stuck is overridden": {
			run: inspect.Run{Stuck: func(reason string) bool { return reason != "ErrImagePull" && inspect.Stuck(reason) }}, pod: main(waits("ErrImagePull")),
			want: want{phase: corev1.PodPending},
		},
		"Failed is overridden": {
			run: inspect.Run{Failed: func(name string, _ *corev1.ContainerStateTerminated) bool { return name != "main" }}, pod: main(ended(1, "Error")),
			want: want{phase: corev1.PodSucceeded},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{}
			c.pod(pod)
			before := pod.DeepCopy()
			got := c.run.Of(pod, start.Add(c.after))
			found := want{got.Phase, got.Container, "", got.Again}
			if got.Phase == corev1.PodFailed {
				found.why = got.Why()
			}
			if diff := cmp.Diff(c.want, found, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, pod); diff != "" {
				t.Errorf("the pod was changed (-before +after):\n%s", diff)
			}
		})
	}
}
