package inspect_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/health/inspect"
)

func FuzzClassifyLog(f *testing.F) {
	for _, s := range []string{"", "401", "2026-01-01T00:00:00Z x not found", "a\nb\xffdenied\n", "[::] [::] disk full", "no such\r\n\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		class, line := inspect.ClassifyLog(text)
		if (class == inspect.LogUnknown) && line != "" {
			t.Errorf("%s with the line %q", class, line)
		}
		if len(line) > 256 || !utf8.ValidString(line) {
			t.Errorf("the line has %d bytes, valid %v", len(line), utf8.ValidString(line))
		}
		if again, other := inspect.ClassifyLog(text); again != class || other != line {
			t.Errorf("the same text gave %s and %s", class, again)
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
		c := inspect.Of(u)
		if c.GetReason() == "" {
			t.Errorf("no Reason: %+v", c)
		}
		if summary(c) != summary(inspect.Of(u)) {
			t.Error("two results for one object")
		}
	})
}
