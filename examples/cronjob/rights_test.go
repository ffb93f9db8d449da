package main

import (
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/rights"
	batchv1 "k8s.io/api/batch/v1"
)

// TestRights: the operator uses each of its rights, and needs no other one.
func TestRights(t *testing.T) {
	page, err := cronjobs().Page()
	if err != nil {
		t.Fatal(err)
	}
	w := newFixture(t, limits(0, 0))
	granted := env.Rights(t, page.Rules())
	var counted requests.Requests
	counted.Inject(rights.RefusedOnce())
	w.start(counted.Observe(granted.Config()), "-leader-elect", "-leader-election-namespace="+w.cron.Namespace)
	w.at(0)
	granted.Without(t, "update cronjob.example.com/cronjobs/finalizers", func() {
		w.clock.SetTime(w.hour.Add(time.Hour))
		w.touch()
	})
	w.clock.SetTime(w.hour.Add(time.Hour + 10*time.Minute)) // what was refused is tried again, within the same hour
	w.touch()
	w.eventually("the Job", func() bool { return len(w.jobs()) == 1 })
	w.end(1, batchv1.JobComplete)
	w.eventually("the Job is deleted", func() bool { return len(w.jobs()) == 0 })
	granted.Check(t, map[string]string{
		"get cronjob.example.com/cronjobs":   "for the inventory of children that the engine prunes; a history has none",
		"patch cronjob.example.com/cronjobs": "for the inventory, as above",
		"get batch/jobs":                     "to read a Job that the cache does not contain yet, as in the tests of the SDK",
		"patch batch/jobs":                   "for children that change; a Job is created once",
		"patch events.k8s.io/events":         "for an event that repeats itself, as in the tests of the SDK",
	})
}
