package health_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/reconcilekit/reconcilekit/health"
)

// FuzzAssessor observes components derived from the bytes and checks the invariants of the result.
func FuzzAssessor(f *testing.F) {
	f.Add([]byte{0, 1, 2}, []byte{9, 18, 27})
	f.Add([]byte{255, 254, 3}, []byte{3})
	categories := []health.Category{
		health.InvalidSpec, health.MissingUpstreamDependency, health.MissingDownstreamDependency, health.Auth,
		health.ResourceExhaustion, health.Infrastructure, health.Conflict, health.Unknown,
	}
	states := []health.State{"", health.Ready, health.Progressing, health.Pending, health.Failed, "Odd"}
	build := func(bytes []byte) (list []health.Component) {
		for i, b := range bytes {
			c := health.Component{Name: []string{"A", "B", "C", ""}[i%4], State: states[int(b)%len(states)], Child: b%7 == 0}
			if b%3 == 0 {
				c.Errors = append(c.Errors, health.NewError(categories[int(b/3)%len(categories)], "R", "m", nil))
			}
			list = append(list, c)
		}
		return list
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		stored, _ := pass(nil, 1, health.Options{Now: start}, build(first))
		components := build(second)
		stored, got := pass(stored, 1, health.Options{Now: start}, components)
		ready := meta.IsStatusConditionTrue(stored, "Ready")
		if ready != (got.State == health.Ready) {
			t.Errorf("summary %v, state %s", ready, got.State)
		}
		for _, c := range components {
			covered := got.RequeueAfter > 0 // within the grace period
			if ready && !covered && c.GetState() != health.Ready {
				t.Errorf("ready with %+v", c)
			}
		}
		for _, c := range stored {
			if c.Reason == "" || c.Type == "" {
				t.Errorf("the API rejects %+v", c)
			}
		}
	})
}
