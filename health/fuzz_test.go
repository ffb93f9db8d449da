package health_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

func FuzzClassifyLog(f *testing.F) {
	for _, s := range []string{"", "401", "2026-01-01T00:00:00Z x not found", "a\nb\xffdenied\n", "[::] [::] disk full", "no such\r\n\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		class, line := health.ClassifyLog(text)
		if (class == health.LogUnknown) && line != "" {
			t.Errorf("%s with the line %q", class, line)
		}
		if len(line) > 256 || !utf8.ValidString(line) {
			t.Errorf("the line has %d bytes, valid %v", len(line), utf8.ValidString(line))
		}
		if again, other := health.ClassifyLog(text); again != class || other != line {
			t.Errorf("the same text gave %s and %s", class, again)
		}
	})
}

// FuzzAssessor observes components made of the bytes and checks what always holds.
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
		ready := conditions.IsTrue(conditions.List(stored), "Ready")
		if ready != (got.State == health.Ready) {
			t.Errorf("summary %v, state %s", ready, got.State)
		}
		for _, c := range components {
			covered := got.RequeueAfter > 0 // by the grace period
			if ready && !covered && c.GetState() != health.Ready {
				t.Errorf("ready with %+v", c)
			}
		}
		for _, c := range stored {
			if c.Reason == "" || c.Type == "" {
				t.Errorf("the API refuses %+v", c)
			}
		}
	})
}

func FuzzOf(f *testing.F) {
	f.Add("apps/v1", "Deployment", `{"spec":{"replicas":1},"status":{"conditions":[{}]}}`)
	f.Add("v1", "Pod", `{"status":{"phase":"Failed","containerStatuses":[{"state":{"terminated":{}}}]}}`)
	f.Add("gateway.networking.k8s.io/v1", "HTTPRoute", `{"status":{"parents":[{"conditions":[{"type":"Accepted"}]}]}}`)
	f.Add("example.com/v1", "Widget", `{"status":{"conditions":[{"type":"Ready"}]}}`)
	f.Fuzz(func(t *testing.T, apiVersion, kind, text string) {
		u := &unstructured.Unstructured{}
		if json.Unmarshal([]byte(text), &u.Object) != nil || u.Object == nil {
			t.Skip()
		}
		u.Object["apiVersion"], u.Object["kind"] = apiVersion, kind
		c := health.Of(u)
		if c.GetReason() == "" {
			t.Errorf("no reason: %+v", c)
		}
		if summary(c) != summary(health.Of(u)) {
			t.Error("two answers to one object")
		}
	})
}
