package lmes

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// TestTransitions checks that the table covers all positions and situations, and that only a complete, unchanged job
// needs no action.
func TestTransitions(t *testing.T) {
	t.Parallel()
	if err := transitions.Check(); err != nil {
		t.Error(err)
	}
	for _, p := range transitions.States {
		for _, s := range transitions.Facts {
			switch a := transitions.Action(p, s); {
			case (a == rest || a == dismiss) != (p == complete):
				t.Errorf("%s does %s for %s: only complete jobs need no action", p, a, s)
			case a == create && p != unscheduled:
				t.Errorf("%s creates a pod for %s, which already had one", p, s)
			case s == foreign && (a == discard || a == cancel):
				t.Errorf("%s deletes a pod of others", p)
			}
		}
	}
}

// TestLeads checks that a reconciliation stores a state that the table lists for its action, or keeps the previous one.
func TestLeads(t *testing.T) {
	t.Parallel()
	then := metav1.Now()
	jobs := map[position]func(*v1alpha1.LMEvalJob){
		unrecorded:  func(*v1alpha1.LMEvalJob) {},
		unscheduled: func(j *v1alpha1.LMEvalJob) { j.Annotations[generation] = "2" },
		scheduled: func(j *v1alpha1.LMEvalJob) {
			j.Annotations[generation], j.Status.State, j.Status.LastScheduleTime = "2", v1alpha1.JobScheduled, &then
		},
		cancelled: func(j *v1alpha1.LMEvalJob) {
			j.Annotations[generation], j.Status.State, j.Status.LastScheduleTime = "2", v1alpha1.JobCancelled, &then
		},
		suspended: func(j *v1alpha1.LMEvalJob) { j.Spec.Suspend = new(true) },
		unqueued:  func(j *v1alpha1.LMEvalJob) { j.Labels = nil },
		complete: func(j *v1alpha1.LMEvalJob) {
			j.Annotations[generation], j.Status.State, j.Status.CompleteTime = "2", v1alpha1.JobComplete, &then
		},
		changed: func(j *v1alpha1.LMEvalJob) {
			j.Annotations[generation], j.Status.State, j.Status.CompleteTime = "1", v1alpha1.JobComplete, &then
		},
	}
	for _, p := range transitions.States {
		for _, s := range transitions.Facts {
			job := &v1alpha1.LMEvalJob{ObjectMeta: metav1.ObjectMeta{
				Generation: 2, Annotations: map[string]string{}, Labels: map[string]string{kueue.QueueLabel: "q"},
			}}
			job.Spec.Suspend = new(false)
			if jobs[p](job); positionOf(job, true) != p {
				t.Fatalf("the job of %s is %s", p, positionOf(job, true))
			}
			action := transitions.Action(p, s)
			obs := Observation{job: job, status: *job.Status.DeepCopy(), now: then}
			obs.act(action, "problem")
			if action == record {
				job.Annotations[generation] = "2" // see PlanResources
			}
			job.Status = obs.status
			if got := positionOf(job, true); got != p && !slices.Contains(transitions.Leads[action], got) {
				t.Errorf("%s, %s: %s leads to %s, want one of %v", p, s, action, got, transitions.Leads[action])
			}
		}
	}
}

func TestPositionOf(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	for name, c := range map[string]struct {
		state     v1alpha1.JobState
		last      string
		started   bool
		completed bool
		suspend   *bool
		managed   bool
		queue     string
		message   string
		want      position
	}{
		"no status":                {want: unrecorded},
		"recorded":                 {last: "2", want: unscheduled},
		"complete without times":   {state: v1alpha1.JobComplete, last: "2", want: unscheduled},
		"scheduled":                {state: v1alpha1.JobScheduled, last: "2", started: true, want: scheduled},
		"running":                  {state: v1alpha1.JobRunning, last: "2", started: true, want: scheduled},
		"running, changed":         {state: v1alpha1.JobRunning, last: "1", started: true, want: changed},
		"complete":                 {state: v1alpha1.JobComplete, last: "2", started: true, completed: true, want: complete},
		"complete, changed":        {state: v1alpha1.JobComplete, last: "1", started: true, completed: true, want: changed},
		"invalid":                  {state: v1alpha1.JobComplete, last: "2", completed: true, want: complete},
		"invalid, changed":         {state: v1alpha1.JobComplete, last: "1", completed: true, want: changed},
		"complete, no annotation":  {state: v1alpha1.JobComplete, started: true, completed: true, want: complete},
		"complete, bad annotation": {state: v1alpha1.JobComplete, last: "x", started: true, want: complete},
		"cancelled, changed":       {state: v1alpha1.JobCancelled, last: "1", started: true, want: cancelled},
		"reset":                    {state: v1alpha1.JobNew, last: "1", want: unrecorded},
		"resumed":                  {state: v1alpha1.JobSuspended, last: "2", started: true, want: unscheduled},
		"suspended":                {suspend: new(true), want: suspended},
		"suspended while it runs":  {state: v1alpha1.JobRunning, last: "1", started: true, suspend: new(true), want: suspended},
		"suspended too late":       {state: v1alpha1.JobComplete, last: "2", started: true, completed: true, suspend: new(true), want: complete},
		"another run, suspended":   {state: v1alpha1.JobComplete, last: "1", started: true, completed: true, suspend: new(true), want: changed},
		"cancelled, suspended":     {state: v1alpha1.JobCancelled, last: "2", started: true, suspend: new(true), want: cancelled},
		"not suspended":            {suspend: new(false), want: unrecorded},
		"without a queue":          {managed: true, want: unqueued},
		"complete without a queue": {managed: true, state: v1alpha1.JobComplete, completed: true, message: noQueue, want: complete},
		"a queue was set later":    {managed: true, queue: "q", state: v1alpha1.JobComplete, completed: true, message: noQueue, want: changed},
		"the queue was removed":    {state: v1alpha1.JobComplete, completed: true, message: noQueue, want: changed},
		"in the queue":             {managed: true, queue: "q", want: suspended},
		"admitted":                 {managed: true, queue: "q", suspend: new(false), last: "2", want: unscheduled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := &v1alpha1.LMEvalJob{ObjectMeta: metav1.ObjectMeta{Generation: 2, Annotations: map[string]string{generation: c.last}}}
			job.Status.State, job.Status.Message, job.Spec.Suspend, job.Labels = c.state, c.message, c.suspend, map[string]string{kueue.QueueLabel: c.queue}
			if c.started {
				job.Status.LastScheduleTime = &now
			}
			if c.completed {
				job.Status.CompleteTime = &now
			}
			if got := positionOf(job, c.managed); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	job := &v1alpha1.LMEvalJob{ObjectMeta: metav1.ObjectMeta{Name: "job", UID: "1", Generation: 2}}
	main := func(state corev1.ContainerState) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{
				{Name: "side", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 7}}},
				{Name: mainContainer, State: state},
			}
		}
	}
	stopped := func(reason string) func(*corev1.Pod) {
		return main(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}})
	}
	ended := func(code int32, reason string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}
	}
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   podState
		why    string
		driver v1alpha1.JobState
	}{
		"no status":                  {func(*corev1.Pod) {}, waiting, "", ""},
		"of others":                  {func(p *corev1.Pod) { p.OwnerReferences = nil }, foreign, "", ""},
		"of a previous job":          {func(p *corev1.Pod) { p.OwnerReferences[0].UID = "0" }, foreign, "", ""},
		"deleted":                    {func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }, leaving, "", ""},
		"of a previous spec":         {func(p *corev1.Pod) { p.Annotations[generation] = "1" }, outdated, "", ""},
		"initializing":               {stopped("PodInitializing"), waiting, "", ""},
		"creating":                   {stopped("ContainerCreating"), waiting, "", ""},
		"first pull":                 {stopped("ErrImagePull"), waiting, "", ""},
		"second pull":                {stopped("ImagePullBackOff"), failed, "ImagePullBackOff", ""},
		"running":                    {main(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), running, "", ""},
		"running, reported":          {main(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), reported, "", v1alpha1.JobComplete},
		"reported and ended":         {main(ended(1, "Error")), failed, "Error", v1alpha1.JobComplete},
		"completed":                  {main(ended(0, "Completed")), succeeded, "", ""},
		"completed without a report": {main(ended(0, "")), succeeded, "", ""},
		"killed":                     {main(ended(137, "OOMKilled")), failed, "OOMKilled", ""},
		"unknown termination":        {main(ended(0, "Error")), failed, "Error", ""},
		"failed without a message":   {main(ended(3, "")), failed, "exit code 3", ""},
		"driver fails": {func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: driverContainer, State: ended(1, "Error")}}
		}, failed, "Error", ""},
		"driver ended": {func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: driverContainer, State: ended(0, "Completed")}}
		}, waiting, "", ""},
		"evicted": {func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted" }, failed, "Evicted", ""},
		"evicted while it ran": {func(p *corev1.Pod) {
			main(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})(p)
			p.Status.Phase, p.Status.Message = corev1.PodFailed, "node lost"
		}, failed, "node lost", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Name: "job", Annotations: map[string]string{generation: "2"},
				OwnerReferences: []metav1.OwnerReference{{UID: "1", Controller: new(true)}},
			}}
			c.change(pod)
			got, why := stateOfPod(job, pod, progress{State: c.driver})
			if got != c.want || why != c.why {
				t.Errorf("got %s, %q; want %s, %q", got, why, c.want, c.why)
			}
		})
	}
	if got, _ := stateOfPod(job, nil, progress{}); got != absent {
		t.Errorf("no pod: got %s", got)
	}
}
