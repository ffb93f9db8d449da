package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/lmes"
)

// heldJob is a job that does not run.
type heldJob struct {
	change  func(*v1alpha1.LMEvalJob)
	state   v1alpha1.JobState
	message string
	foreign bool // another owner has a pod of its name
	// later is a patch of a scheduled job that stops it.
	later string
}

// heldJobs has jobs that do not run without the job manager.
var heldJobs = map[string]heldJob{
	"invalid": {
		change: func(j *v1alpha1.LMEvalJob) { j.Spec.ModelArgs = []v1alpha1.Argument{{Name: "pretrained"}} },
		state:  v1alpha1.JobComplete, message: "Input validation failed",
	},
	"undefined": {
		change: func(j *v1alpha1.LMEvalJob) {
			j.Spec.TaskList.TaskRecipes = []v1alpha1.TaskRecipe{{Card: v1alpha1.Card{Name: "card"}, Template: &v1alpha1.Artifact{Ref: "missing"}}}
		},
		state: v1alpha1.JobComplete, message: "not defined",
	},
	"suspended": {change: func(j *v1alpha1.LMEvalJob) { j.Spec.Suspend = new(true) }, state: v1alpha1.JobSuspended},
	"claimless": {
		change: func(j *v1alpha1.LMEvalJob) { j.Spec.Outputs = &v1alpha1.Outputs{PVCName: new("missing")} },
		state:  v1alpha1.JobNew, message: "missing",
	},
	"occupied": {state: v1alpha1.JobComplete, message: "already exists", foreign: true},
}

// queuedJobs has jobs that the job manager keeps from running.
var queuedJobs = map[string]heldJob{
	"unnamed": {change: func(j *v1alpha1.LMEvalJob) { j.Labels = nil }, state: v1alpha1.JobComplete, message: kueue.QueueLabel},
	"waiting": {state: v1alpha1.JobSuspended},
	"invalid": {
		change: func(j *v1alpha1.LMEvalJob) {
			j.Spec.Suspend, j.Spec.ModelArgs = new(false), []v1alpha1.Argument{{Name: "pretrained"}}
		},
		state: v1alpha1.JobComplete, message: "Input validation failed",
	},
	"taken-out": {
		change: func(j *v1alpha1.LMEvalJob) { j.Spec.Suspend = new(false) }, later: `{"metadata":{"labels":null}}`,
		state: v1alpha1.JobComplete, message: kueue.QueueLabel,
	},
	"put-back": {
		change: func(j *v1alpha1.LMEvalJob) { j.Spec.Suspend = new(false) }, later: `{"spec":{"suspend":true}}`, state: v1alpha1.JobSuspended,
	},
}

// TestJobsWithFinalizersAreDeleted checks that a rejected, suspended or waiting job can be deleted, that the objects
// created for it are deleted, and that objects of others are kept.
func TestJobsWithFinalizersAreDeleted(t *testing.T) {
	w := newServer(t)
	for _, s := range scenarios(t) {
		if s.Name == "lmes-simple-pod" {
			w.configure(t, s.settings())
		}
	}
	for services, jobs := range map[string]map[string]heldJob{"LMES": heldJobs, "LMES,JOB_MGR": queuedJobs} {
		t.Run(services, func(t *testing.T) {
			w.start(t, services)
			for name, job := range jobs {
				t.Run(name, func(t *testing.T) {
					p := &player{cluster: w, T: t, ns: w.env.Namespace(t)}
					p.holdAndDelete(name, job)
				})
			}
		})
	}
}

func (p *player) holdAndDelete(name string, held heldJob) {
	p.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: name}}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	if held.foreign {
		p.must(p.Create(p.Context(), pod))
	}
	job := &v1alpha1.LMEvalJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: name, Labels: map[string]string{kueue.QueueLabel: "q"}},
		Spec:       v1alpha1.LMEvalJobSpec{Model: "hf", TaskList: v1alpha1.TaskList{TaskNames: []v1alpha1.TaskName{"task1"}}},
	}
	if held.change != nil {
		held.change(job)
	}
	p.must(p.Create(p.Context(), job))
	key := client.ObjectKeyFromObject(job)
	if held.later != "" {
		p.becomes(job, v1alpha1.JobScheduled, "")
		p.must(p.Get(p.Context(), key, pod))
		p.must(p.Patch(p.Context(), job, client.RawPatch(types.MergePatchType, []byte(held.later))))
	}
	p.becomes(job, held.state, held.message)
	if !held.foreign {
		p.eventually("have no pod", 10*time.Second, func() error { return absent(p.Get(p.Context(), key, pod), key) })
	}
	if !strings.Contains(strings.Join(job.Finalizers, " "), lmes.Finalizer) {
		p.Errorf("it has the finalizers %v, want %s", job.Finalizers, lmes.Finalizer)
	}
	p.must(p.Delete(p.Context(), job))
	p.eventually("delete the job", 10*time.Second, func() error { return absent(p.Get(p.Context(), key, job), key) })
	if held.foreign {
		p.must(p.Get(p.Context(), key, pod))
		p.triedOnce()
	}
	p.collect(job)
}

// triedOnce checks that a pod of another owner with the same name is read at most once.
func (p *player) triedOnce() {
	p.Helper()
	log, err := p.env.AuditLog()
	p.must(err)
	sent, err := log.Entries(environment.User(p.user), func(e environment.AuditEntry) bool {
		return e.Namespace == p.ns && e.Resource == "pods" && (e.Verb == "create" || e.Verb == "patch")
	})
	if err != nil || len(sent) > 1 {
		p.Errorf("the pod was read again: %s (%v)", sent, err)
	}
}

// becomes waits until a job has a state.
func (p *player) becomes(job *v1alpha1.LMEvalJob, state v1alpha1.JobState, message string) {
	p.Helper()
	p.eventually("have the job "+string(state), 20*time.Second, func() error {
		err := p.Get(p.Context(), client.ObjectKeyFromObject(job), job)
		if s := job.Status; err == nil && (s.State != state || !strings.Contains(s.Message, message)) {
			err = fmt.Errorf("its status is %s", text(s))
		}
		return err
	})
}

// collect deletes the workloads of a deleted job, as the garbage collector does.
func (p *player) collect(job *v1alpha1.LMEvalJob) {
	p.Helper()
	var workloads kueue.WorkloadList
	p.must(p.List(p.Context(), &workloads, client.InNamespace(job.Namespace)))
	for i := range workloads.Items {
		workload := &workloads.Items[i]
		if !metav1.IsControlledBy(workload, job) {
			p.Errorf("workload %s is not owned by the job: the garbage collector does not delete it", workload.Name)
		}
		p.must(p.Delete(p.Context(), workload))
		key := client.ObjectKeyFromObject(workload)
		p.eventually("delete the workload", 10*time.Second, func() error { return absent(p.Get(p.Context(), key, workload), key) })
	}
}

// absent returns an error if the object still exists.
func absent(read error, key client.ObjectKey) error {
	if apierrors.IsNotFound(read) {
		return nil
	}
	return fmt.Errorf("%s exists (%w)", key, read)
}
