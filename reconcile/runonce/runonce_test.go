package runonce_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/runonce"
)

const annotation = "example.com/migrated-to"

func TestPlan(t *testing.T) {
	t.Parallel()
	// The child in the plan.
	const made, kept, deleted = "made", "kept", "deleted"
	child := func(key string, changes ...func(*batchv1.Job)) *batchv1.Job {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
			Name: "migration", UID: "2", Annotations: map[string]string{annotation: key},
			OwnerReferences: []metav1.OwnerReference{{UID: "1", Controller: new(true)}},
		}}
		for _, change := range changes {
			change(job)
		}
		return job
	}
	broken := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "broken"}}
	for name, c := range map[string]struct {
		mark  string
		child *batchv1.Job
		want  runonce.Stage
		says  string
		keeps string // the annotation of the owner
	}{
		"first":                                {"", nil, runonce.Absent, made, ""},
		"another version":                      {"v1", nil, runonce.Absent, made, "v1"},
		"created, not recorded":                {"", child("v2"), runonce.Present, kept, "v2"},
		"created":                              {"v2", child("v2"), runonce.Present, kept, "v2"},
		"deleted after completion":             {"v2", nil, runonce.Lost, kept, "v2"},
		"of the previous version":              {"v1", child("v1"), runonce.Outdated, kept, ""},
		"annotation removed, previous version": {"", child("v1"), runonce.Outdated, deleted, ""},
		"forged key":                           {"v2", child("v9"), runonce.Outdated, kept, ""},
		"being deleted":                        {"v1", child("v1", func(j *batchv1.Job) { j.DeletionTimestamp = new(metav1.Now()) }), runonce.Leaving, kept, "v1"},
		"of another owner":                     {"", child("v2", func(j *batchv1.Job) { j.OwnerReferences[0].UID = "0" }), runonce.Foreign, made, ""},
		"without an owner":                     {"", child("v2", func(j *batchv1.Job) { j.OwnerReferences = nil }), runonce.Foreign, made, ""},
		"annotation removed":                   {"", child("v2"), runonce.Present, kept, "v2"},
		"cannot be read":                       {"v2", broken, runonce.Unknown, kept, "v2"},
		"cannot be read, no annotation":        {"", broken, runonce.Unknown, kept, ""},
		"to run again: no annotation":          {"", nil, runonce.Absent, made, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
			if c.mark != "" {
				owner.Annotations = map[string]string{annotation: c.mark}
			}
			desired := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "migration", Annotations: map[string]string{"a": "b"}}}
			run := runonce.Run[*batchv1.Job]{Annotation: annotation}
			var plan reconcile.PlanResult
			fetched := reconcile.FetchResult[*batchv1.Job]{Value: c.child}
			switch c.child {
			case nil:
				fetched.Error = apierrors.NewNotFound(schema.GroupResource{}, "migration")
			case broken:
				fetched = reconcile.FetchResult[*batchv1.Job]{Error: errors.New("the cache is unavailable")}
			}
			if got := run.Plan(&plan, owner, fetched, "v2", desired); got != c.want || run.Stage(owner, fetched, "v2") != c.want {
				t.Errorf("stage: got %s, want %s", got, c.want)
			}
			says := deleted
			switch {
			case len(plan.Children) == 1 && plan.Children[0].Existing:
				says = kept
			case len(plan.Children) == 1:
				says = made
				if diff := cmp.Diff(map[string]string{"a": "b", annotation: "v2"}, plan.Children[0].Object.GetAnnotations()); diff != "" {
					t.Errorf("annotations of the child (-want +got):\n%s", diff)
				}
			case len(plan.Deletes) != 1 || plan.Deletes[0].Object.GetUID() != "2":
				t.Errorf("deletes %v, want the object with UID 2", plan.Deletes)
			}
			if says != c.says {
				t.Errorf("the child is %s, want %s", says, c.says)
			}
			keeps := ""
			if plan.Owner != nil {
				keeps = plan.Owner.Object.GetAnnotations()[annotation]
			}
			if keeps != c.keeps {
				t.Errorf("records %q, want %q", keeps, c.keeps)
			}
			if len(desired.Annotations) != 1 {
				t.Errorf("the desired object was changed: %v", desired.Annotations)
			}
		})
	}
}

// TestAnnotationOfAnotherOwnerIsIgnored checks which owners without a child count as done because of their annotation.
func TestAnnotationOfAnotherOwnerIsIgnored(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of   string
		want runonce.Stage
	}{
		"of this owner": {"1", runonce.Lost}, "of an earlier version": {"", runonce.Lost}, "copied from another owner": {"9", runonce.Absent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "1", Annotations: map[string]string{annotation: "v2"}}}
			if c.of != "" {
				owner.Annotations[annotation+"-owner"] = c.of
			}
			missing := reconcile.FetchResult[*batchv1.Job]{Error: apierrors.NewNotFound(schema.GroupResource{}, "migration")}
			var plan reconcile.PlanResult
			run := runonce.Run[*batchv1.Job]{Annotation: annotation}
			if got := run.Plan(&plan, owner, missing, "v2", &batchv1.Job{}); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if c.want == runonce.Lost && plan.Owner.Object.GetAnnotations()[annotation+"-owner"] != "1" {
				t.Errorf("got annotations %v, want the UID of the owner", plan.Owner.Object.GetAnnotations())
			}
		})
	}
}

// TestHealth checks the reported health of a run, and that a failure is reported after its child is deleted.
func TestHealth(t *testing.T) {
	t.Parallel()
	child := func(key string, condition batchv1.JobConditionType) *batchv1.Job {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
			Name: "migration", UID: "2", Annotations: map[string]string{annotation: key},
			OwnerReferences: []metav1.OwnerReference{{UID: "1", Controller: new(true)}},
		}}
		if condition != "" {
			job.Status.Conditions = []batchv1.JobCondition{{
				Type: condition, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonBackoffLimitExceeded, Message: "it has failed",
			}}
		}
		return job
	}
	missing := reconcile.FetchResult[*batchv1.Job]{Error: apierrors.NewNotFound(schema.GroupResource{}, "migration")}
	found := func(job *batchv1.Job) reconcile.FetchResult[*batchv1.Job] {
		return reconcile.FetchResult[*batchv1.Job]{Value: job}
	}
	leaving := child("v1", "")
	leaving.DeletionTimestamp = new(metav1.Now())
	const failed = "JobBackoffLimitExceeded"
	for name, test := range map[string]struct {
		mark, failure string // annotations of the owner
		child         reconcile.FetchResult[*batchv1.Job]
		want          string
		remembers     string
	}{
		"not started":         {"", "", missing, "Progressing RunPending it has not started yet", ""},
		"running":             {"v2", "", found(child("v2", "")), "Progressing JobRunning Job is in progress", ""},
		"complete":            {"v2", "", found(child("v2", batchv1.JobComplete)), "Ready JobComplete Job is complete", ""},
		"failed":              {"v2", "", found(child("v2", batchv1.JobFailed)), "Failed JobBackoffLimitExceeded it has failed", failed},
		"tried again":         {"v2", failed, found(child("v2", "")), "Progressing JobRunning Job is in progress", ""},
		"deleted":             {"v2", "", missing, "Ready RunDeleted it ran, and was deleted afterwards", ""},
		"failed and deleted":  {"v2", failed, missing, "Failed JobBackoffLimitExceeded it failed, and was deleted afterwards", failed},
		"another key":         {"v1", failed, missing, "Progressing RunPending it has not started yet", ""},
		"of the key before":   {"v1", failed, found(child("v1", batchv1.JobFailed)), "Progressing RunPending the previous run is being deleted", ""},
		"being deleted":       {"v1", failed, found(leaving), "Progressing RunPending the previous run is being deleted", failed},
		"it cannot be read":   {"v2", failed, reconcile.FetchResult[*batchv1.Job]{Error: errors.New("away")}, "Degraded UnknownError away", failed},
		"of another owner":    {"", "", found(&batchv1.Job{}), "Progressing RunPending it has not started yet", ""},
		"no mark, no failure": {"", failed, missing, "Progressing RunPending it has not started yet", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "1", Annotations: map[string]string{}}}
			if test.mark != "" {
				owner.Annotations[annotation] = test.mark
			}
			if test.failure != "" {
				owner.Annotations[annotation+"-failed"] = test.failure
			}
			run := runonce.Run[*batchv1.Job]{Annotation: annotation}
			c := run.Health("Migration", owner, test.child, "v2")
			if c.Name != "Migration" || c.Dependency != health.Downstream || !c.Child {
				t.Errorf("got component %+v, want a child of the name Migration", c)
			}
			got := string(c.GetState()) + " " + c.GetReason() + " " + c.GetMessage()
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("component (-want +got):\n%s", diff)
			}
			var plan reconcile.PlanResult
			run.Plan(&plan, owner, test.child, "v2", &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "migration"}})
			remembers := ""
			if plan.Owner != nil {
				remembers = plan.Owner.Object.GetAnnotations()[annotation+"-failed"]
			}
			if remembers != test.remembers {
				t.Errorf("the owner remembers the failure %q, want %q", remembers, test.remembers)
			}
		})
	}
}
