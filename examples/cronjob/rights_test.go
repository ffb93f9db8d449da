package main

import (
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/rights"
	batchv1 "k8s.io/api/batch/v1"
)

// TestRights checks that the operator uses each of its permissions and needs no others.
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
	w.clock.SetTime(w.hour.Add(time.Hour + 10*time.Minute)) // retries the refused request within the same hour
	w.touch()
	w.eventually("the Job", func() bool { return len(w.jobs()) == 1 })
	w.end(1, batchv1.JobComplete)
	w.eventually("the Job is deleted", func() bool { return len(w.jobs()) == 0 })
	granted.Check(t, map[string]string{
		"get cronjob.example.com/cronjobs":   "for the inventory of prunable children; a history has no inventory",
		"patch cronjob.example.com/cronjobs": "for the inventory, as above",
		"get batch/jobs":                     "to read a Job that the cache does not contain yet, tested in the library",
		"patch batch/jobs":                   "for changed children; a Job never changes",
		"patch events.k8s.io/events":         "for a repeated event, tested in the library",
	})
}
