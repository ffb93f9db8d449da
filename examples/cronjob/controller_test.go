package main

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/reconcilekit/reconcilekit/examples/cronjob/api/v1"
)

// TestStarts checks which start was missed and which is next, for a CronJob created at noon.
func TestStarts(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	at := noon.Add
	for name, c := range map[string]struct {
		schedule     string
		last, now    time.Duration // since noon; last is 0 if no Job was started
		deadline     int64         // 0: no deadline
		missed, next time.Duration // 0: none
		err          string
	}{
		"no start yet":        {schedule: "30 * * * *", now: time.Minute, next: 30 * time.Minute},
		"due":                 {schedule: "30 * * * *", now: 30 * time.Minute, missed: 30 * time.Minute, next: 90 * time.Minute},
		"started":             {schedule: "30 * * * *", last: 30 * time.Minute, now: 31 * time.Minute, next: 90 * time.Minute},
		"the last of several": {schedule: "30 * * * *", now: 3 * time.Hour, missed: 150 * time.Minute, next: 210 * time.Minute},
		"within deadline":     {schedule: "30 * * * *", now: 31 * time.Minute, deadline: 90, missed: 30 * time.Minute, next: 90 * time.Minute},
		"after the deadline":  {schedule: "30 * * * *", now: 32 * time.Minute, deadline: 90, next: 90 * time.Minute},
		"a hundred":           {schedule: "* * * * *", now: 100 * time.Minute, missed: 100 * time.Minute, next: 101 * time.Minute},
		"too many":            {schedule: "* * * * *", now: 101 * time.Minute, next: 102 * time.Minute, err: "more than 100 starts were missed"},
		"many, and deadline":  {schedule: "* * * * *", now: 900 * time.Minute, deadline: 30, missed: 900 * time.Minute, next: 901 * time.Minute},
		"no schedule":         {schedule: "often", err: `spec.schedule "often"`},
		"only a time zone":    {schedule: "TZ=UTC", err: "want a schedule after the time zone"},
		"never":               {schedule: "0 0 30 2 *", err: "never comes"},
		"every":               {schedule: "@every 1h", now: 90 * time.Minute, missed: time.Hour, next: 150 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := &v1.CronJob{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon)}}
			owner.Spec.Schedule = c.schedule
			if c.deadline > 0 {
				owner.Spec.StartingDeadlineSeconds = &c.deadline
			}
			var last *metav1.Time
			if c.last > 0 {
				last = &metav1.Time{Time: at(c.last)}
			}
			want := func(after time.Duration) time.Time {
				if after == 0 {
					return time.Time{}
				}
				return at(after)
			}
			missed, next, err := starts(owner, last, at(c.now))
			if !missed.Equal(want(c.missed)) || !next.Equal(want(c.next)) {
				t.Errorf("missed %s, next %s; want %s, %s", missed, next, want(c.missed), want(c.next))
			}
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}

// TestNewJob checks that a Job has the name and the annotation of its scheduled time, and the metadata and spec of the
// template.
func TestNewJob(t *testing.T) {
	t.Parallel()
	owner := &v1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "space", Name: "backup"}}
	owner.Spec.JobTemplate.Labels = map[string]string{"a": "b"}
	owner.Spec.JobTemplate.Annotations = map[string]string{"c": "d"}
	due := time.Unix(1_770_000_000, 0).UTC()
	job := newJob(owner, due)
	if job.Name != "backup-1770000000" || job.Namespace != "space" || job.Labels["a"] != "b" || job.Annotations["c"] != "d" {
		t.Errorf("got %+v", job.ObjectMeta)
	}
	if got := dueTime(job); got == nil || !got.Equal(&metav1.Time{Time: due}) {
		t.Errorf("due %v, want %s", got, due)
	}
	if len(owner.Spec.JobTemplate.Annotations) != 1 {
		t.Error("the template was changed")
	}
	if dueTime(&batchv1.Job{}) != nil {
		t.Error("a Job of a user has no scheduled time")
	}
}
