package engine

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

func TestSettledQuestions(t *testing.T) {
	type asked struct{ kind, content, value string }
	first := asked{"Deployment", `{"metadata":{"name":"a"},"spec":{"url":"http://a","account":"a","image":"app:1","type":"Recreate","replicas":1}}`, "a"}
	for name, tc := range map[string]struct {
		other asked
		same  bool
	}{
		"the same":               {first, true},
		"another owner":          {asked{"Deployment", `{"metadata":{"name":"b"},"spec":{"url":"http://b","account":"b","image":"app:1","type":"Recreate","replicas":1}}`, "b"}, true},
		"another kind":           {asked{"StatefulSet", first.content, "a"}, false},
		"another image":          {asked{"Deployment", `{"spec":{"url":"http://a","account":"a","image":"app:latest","type":"Recreate","replicas":1}}`, "a"}, false},
		"another constant":       {asked{"Deployment", `{"spec":{"url":"http://a","account":"a","image":"app:1","type":"RollingUpdate","replicas":1}}`, "a"}, false},
		"another number":         {asked{"Deployment", `{"spec":{"url":"http://a","account":"a","image":"app:1","type":"Recreate","replicas":2}}`, "a"}, false},
		"a copy that is behind":  {asked{"Deployment", `{"spec":{"url":"http://a","account":"c","image":"app:1","type":"Recreate","replicas":1}}`, "a"}, false},
		"without a field":        {asked{"Deployment", `{"spec":{"url":"http://a","account":"a","image":"app:1","type":"Recreate"}}`, "a"}, false},
		"another unowned value":  {asked{"Deployment", first.content, "Always"}, false},
		"an unowned empty value": {asked{"Deployment", first.content, ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var s settledQuestions
			question := func(a asked) uint64 {
				return s.question(schema.GroupVersionKind{Kind: a.kind}, object(t, a.content), []fieldset.Place{{Text: ".spec.copy", Value: a.value}})
			}
			s.add(question(first))
			if got := s.has(question(tc.other)); got != tc.same {
				t.Errorf("got %t; want %t", got, tc.same)
			}
		})
	}
}
