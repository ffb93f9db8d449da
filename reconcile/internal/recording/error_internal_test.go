package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// again writes an error down and makes one of what was written.
func again(t *testing.T, err error) error {
	t.Helper()
	text, failed := json.Marshal(errorOf(err))
	if failed != nil {
		t.Fatal(failed)
	}
	var form *failure
	if failed := json.Unmarshal(text, &form); failed != nil {
		t.Fatal(failed)
	}
	return form.err()
}

// TestErrorsComeBack: what phases and engine ask an error is answered alike by the one that was written down.
func TestErrorsComeBack(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Group: "apps", Resource: "deployments"}
	notFound := apierrors.NewNotFound(resource, "web")
	for name, err := range map[string]error{
		"plain":              errors.New("boom"),
		"not found":          notFound,
		"wrapped not found":  fmt.Errorf("read: %w", notFound),
		"conflict":           apierrors.NewConflict(resource, "web", errors.New("newer")),
		"forbidden":          apierrors.NewForbidden(resource, "web", errors.New("no")),
		"too many requests":  apierrors.NewTooManyRequests("slow down", 7),
		"canceled":           fmt.Errorf("read: %w", context.Canceled),
		"deadline":           fmt.Errorf("read: %w", context.DeadlineExceeded),
		"category":           health.NewError(health.Auth, "TokenExpired", "renew it", nil),
		"category and cause": health.NewError(health.Auth, "TokenExpired", "renew it", errors.New("401")),
		"category of answer": health.NewError(health.MissingUpstreamDependency, "NoSecret", "create it", notFound),
		"not yet":            &pipeline.NotYetError{What: "the list"},
		"joined":             errors.Join(errors.New("one"), notFound),
		"joined with words":  fmt.Errorf("both: %w, %w", errors.New("one"), context.Canceled),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := again(t, err)
			if got.Error() != err.Error() {
				t.Errorf("text %q, want %q", got, err)
			}
			ask := func(err error) map[string]any {
				var waiting *pipeline.NotYetError
				var found []string // as the pipeline takes errors: a plain join is several
				for _, e := range (health.Component{Errors: []error{err}}).Categorized() {
					found = append(found, fmt.Sprintf("%s %s: %s", e.Category, e.Reason, e.Message))
				}
				delay, suggested := apierrors.SuggestsClientDelay(err)
				return map[string]any{
					"not found": apierrors.IsNotFound(err), "conflict": apierrors.IsConflict(err), "forbidden": apierrors.IsForbidden(err),
					"delay": delay, "suggested": suggested,
					"canceled": errors.Is(err, context.Canceled), "deadline": errors.Is(err, context.DeadlineExceeded),
					"not yet": errors.As(err, &waiting), "blocks": len(health.Blocking([]health.Component{{Dependency: health.Downstream, Errors: []error{err}}})),
					"found": found,
				}
			}
			if diff := cmp.Diff(ask(err), ask(got)); diff != "" {
				t.Errorf("answers -of the error +of the recorded one:\n%s", diff)
			}
			if twice := again(t, got); twice.Error() != got.Error() {
				t.Errorf("written down twice it is %q", twice)
			}
		})
	}
	if again(t, nil) != nil {
		t.Error("no error comes back as one")
	}
}

// TestQueries holds the name of a read, and the version of its kind.
func TestQueries(t *testing.T) {
	t.Parallel()
	for want, q := range map[string]query{
		"get v1/ConfigMap shop/web":                                     {Verb: "get", Kind: "v1/ConfigMap", Namespace: "shop", Name: "web"},
		"get apps/v1/Deployment as metadata shop/web":                   {Verb: "get", Kind: "apps/v1/Deployment", As: "metadata", Namespace: "shop", Name: "web"},
		"get v1/Node as unstructured one":                               {Verb: "get", Kind: "v1/Node", As: "unstructured", Name: "one"},
		"list v1/Pod":                                                   {Verb: "list", Kind: "v1/Pod"},
		"list v1/Pod in shop where a=b":                                 {Verb: "list", Kind: "v1/Pod", Namespace: "shop", Labels: "a=b"},
		"list v1/Pod in shop where a=b where the field spec.x=y":        {Verb: "list", Kind: "v1/Pod", Namespace: "shop", Labels: "a=b", Fields: "spec.x=y"},
		`list v1/Pod (5 from "")`:                                       {Verb: "list", Kind: "v1/Pod", Limit: 5},
		`list v1/Pod (5 from "next")`:                                   {Verb: "list", Kind: "v1/Pod", Limit: 5, Continue: "next"},
		"get *widget.Widget shop/web":                                   {Verb: "get", Kind: "*widget.Widget", Namespace: "shop", Name: "web"},
		"list apps/v1/Deployment as unstructured where the field a=b,c": {Verb: "list", Kind: "apps/v1/Deployment", As: "unstructured", Fields: "a=b,c"},
	} {
		if got := q.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for kind, want := range map[string]string{"v1/Pod": "v1", "apps/v1/Deployment": "v1", "a.b/v1beta1/X": "v1beta1", "*widget.Widget": ""} {
		if got := (query{Kind: kind}).Version(); got != want {
			t.Errorf("version of %s is %q, want %q", kind, got, want)
		}
	}
}

// TestFileNames: names of owners that file systems or the form of names cannot hold have a hash, and files sort by their time.
func TestFileNames(t *testing.T) {
	t.Parallel()
	name := func(controller, namespace, owner string) string {
		r := &Recording{pass{Controller: controller, Request: objectKey{Namespace: namespace, Name: owner}}}
		return fileName(r)
	}
	if got, want := name("shop", "team-a", "web"), "shop-team-a-web-00010101T000000.000000000Z"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	names := map[string]string{}
	for _, owner := range []string{"a/b", "a:b", "a%b", `a\b`, "a_b"} {
		got := name("shop", "", owner)
		if other, taken := names[got]; taken {
			t.Errorf("%s and %s have one name %s", owner, other, got)
		}
		names[got] = owner
	}
	long := string(make([]byte, 300))
	if got := name(long, "", "web"); len(got) > 255 {
		t.Errorf("a name of %d bytes", len(got))
	}
	inOrder := []string{
		"z-20260101T000000.000000000Z.json", "a-20260101T000000.000000000Z-2.json", "z-20260101T000000.000000000Z-10.json", "a-20260101T000000.000000001Z.json",
	}
	for i := range inOrder {
		for j := range inOrder {
			if got := older(inOrder[i], inOrder[j]) < 0; got != (i < j) {
				t.Errorf("%s is older than %s: %v", inOrder[i], inOrder[j], got)
			}
		}
	}
}

// FuzzValue: what was read is written with its keys sorted, numbers and all, and stays as it is from then on.
func FuzzValue(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":[1.0,1e30,"<x>",null]}`, `null`, `12345678901234567890`, `"\u00e9"`, `[]`, `{"a":{"b":{}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var value jsonValue
		if !json.Valid(data) || json.Unmarshal(data, &value) != nil {
			t.Skip()
		}
		once, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var second jsonValue
		if err := json.Unmarshal(once, &second); err != nil {
			t.Fatal(err)
		}
		if string(second) != string(value) {
			t.Errorf("%s is read as %s, then as %s", data, value, second)
		}
		if diff := cmp.Diff(dropNulls(value.tree()), dropNulls(second.tree())); diff != "" {
			t.Errorf("-once +twice\n%s", diff)
		}
	})
}

// TestTimes: times keep their resolution and zone, spans their text; what is none is an error that names what would be right.
func TestTimes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"2026-01-02T03:04:05.000000678+05:30"`, `"2026-01-02T03:04:05Z"`} {
		var at utcTime
		if err := json.Unmarshal([]byte(text), &at); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(at); err != nil || string(got) != text {
			t.Errorf("%s is written as %s, %v", text, got, err)
		}
	}
	for _, text := range []string{`"yesterday"`, `7`, `{}`} {
		var at utcTime
		if json.Unmarshal([]byte(text), &at) == nil {
			t.Errorf("%s is read as %s", text, at)
		}
	}
	var span textDuration
	if err := json.Unmarshal([]byte(`"1h0m1s"`), &span); err != nil || span.String() != "1h0m1s" {
		t.Errorf("got %s, %v", span, err)
	}
	if json.Unmarshal([]byte(`"soon"`), &span) == nil {
		t.Error("a word is read as a span")
	}
}
