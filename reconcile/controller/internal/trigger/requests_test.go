package trigger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// TestRequests checks that many requests cause one reconciliation per interval, and that other changes are not delayed.
func TestRequests(t *testing.T) {
	t.Parallel()
	owner := func(change func(*corev1.Service)) *corev1.Service {
		o := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "owner", Annotations: map[string]string{"a": "b"}}}
		change(o)
		return o
	}
	request := func(token string) *corev1.Service {
		return owner(func(o *corev1.Service) { o.Annotations[pipeline.RequestAnnotation] = token })
	}
	clock := clocktesting.NewFakePassiveClock(time.Now())
	r := &trigger.Requests{Clock: clock}
	began := clock.Now()
	reconciliations := map[time.Duration]bool{}
	for i := range 120 { // one every 100 ms
		delay := r.Delay(named("owner"), trigger.Change{Before: request("old"), After: request("new")})
		reconciliations[(clock.Since(began) + delay).Truncate(time.Second)] = true
		clock.SetTime(began.Add(time.Duration(i+1) * 100 * time.Millisecond))
	}
	want := map[time.Duration]bool{0: true, 5 * time.Second: true, 10 * time.Second: true, 15 * time.Second: true}
	if diff := cmp.Diff(want, reconciliations); diff != "" {
		t.Errorf("times of the reconciliations (-want +got)\n%s", diff)
	}
	for name, c := range map[string]trigger.Change{
		"create":             {After: request("new")},
		"the same request":   {Before: request("old"), After: request("old")},
		"a removed request":  {Before: request("old"), After: owner(func(*corev1.Service) {})},
		"another annotation": {Before: request("old"), After: owner(func(o *corev1.Service) { o.Annotations = map[string]string{pipeline.RequestAnnotation: "new"} })},
		"another generation": {Before: owner(func(*corev1.Service) {}), After: owner(func(o *corev1.Service) { o.Generation = 2; o.Annotations[pipeline.RequestAnnotation] = "new" })},
		"a label besides": {Before: owner(func(*corev1.Service) {}), After: owner(func(o *corev1.Service) {
			o.Labels = map[string]string{"a": "b"}
			o.Annotations[pipeline.RequestAnnotation] = "new"
		})},
		"the first of others": {Before: nil, After: nil},
	} {
		if delay := r.Delay(named("owner"), c); delay != 0 {
			t.Errorf("%s waits for %s", name, delay)
		}
	}
	if delay := r.Delay(named("other"), trigger.Change{Before: request("old"), After: request("new")}); delay != 0 {
		t.Errorf("another owner waits for %s", delay)
	}
}

// TestConfirmation checks that the confirmation of a request does not trigger another reconciliation.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	object := func(annotations map[string]string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: annotations, ResourceVersion: annotations["a"]}}
	}
	handled := pipeline.HandledAnnotation("shop")
	for name, c := range map[string]struct {
		before, after map[string]string
		want          bool
	}{
		"a confirmation":             {map[string]string{"a": "1"}, map[string]string{"a": "1", handled: "now"}, false},
		"another confirmation":       {map[string]string{"a": "1", handled: "then"}, map[string]string{"a": "1", handled: "now"}, false},
		"a request":                  {map[string]string{"a": "1"}, map[string]string{"a": "1", pipeline.RequestAnnotation: "now"}, true},
		"a confirmation and another": {map[string]string{"a": "1"}, map[string]string{"a": "2", handled: "now"}, true},
	} {
		before, after := object(c.before), object(c.after)
		before.ResourceVersion, after.ResourceVersion = "1", "2"
		if got := trigger.WakesItself(trigger.Change{Before: before, After: after}); got != c.want {
			t.Errorf("%s triggers a reconciliation: %t, want %t", name, got, c.want)
		}
	}
}
