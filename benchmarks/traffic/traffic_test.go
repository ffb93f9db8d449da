package traffic_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/benchmarks/traffic"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		method, url, contentType string
		want                     traffic.Kind
		text                     string
		writes                   bool
	}{
		"Get": {
			method: "GET", url: "/api/v1/namespaces/a/configmaps/b",
			want: traffic.Kind{Verb: "get", Resource: "configmaps"}, text: "get configmaps",
		},
		"ClusterScoped": {
			method: "GET", url: "/api/v1/namespaces/a",
			want: traffic.Kind{Verb: "get", Resource: "namespaces"}, text: "get namespaces",
		},
		"List": {
			method: "GET", url: "/apis/apps/v1/namespaces/a/deployments",
			want: traffic.Kind{Verb: "list", Resource: "deployments"}, text: "list deployments",
		},
		"Watch": {
			method: "GET", url: "/apis/apps/v1/deployments?watch=true",
			want: traffic.Kind{Verb: "watch", Resource: "deployments"}, text: "watch deployments",
		},
		"Apply": {
			method: "PATCH", url: "/apis/apps/v1/namespaces/a/deployments/b/status?fieldManager=m", contentType: "application/apply-patch+yaml",
			want: traffic.Kind{Verb: "apply", Resource: "deployments", Subresource: "status"}, text: "apply deployments/status", writes: true,
		},
		"DryRun": {
			method: "PATCH", url: "/apis/apps/v1/namespaces/a/deployments/b?dryRun=All", contentType: "application/merge-patch+json",
			want: traffic.Kind{Verb: "patch", Resource: "deployments", DryRun: true}, text: "patch deployments (dry-run)",
		},
		"Create": {
			method: "POST", url: "/api/v1/namespaces/a/secrets",
			want: traffic.Kind{Verb: "create", Resource: "secrets"}, text: "create secrets", writes: true,
		},
		"Update": {
			method: "PUT", url: "/api/v1/namespaces/a/secrets/b",
			want: traffic.Kind{Verb: "update", Resource: "secrets"}, text: "update secrets", writes: true,
		},
		"Delete": {
			method: "DELETE", url: "/api/v1/namespaces/a/secrets/b",
			want: traffic.Kind{Verb: "delete", Resource: "secrets"}, text: "delete secrets", writes: true,
		},
		"DeleteCollection": {
			method: "DELETE", url: "/api/v1/namespaces/a/secrets",
			want: traffic.Kind{Verb: "deletecollection", Resource: "secrets"}, text: "deletecollection secrets", writes: true,
		},
		"Discovery": {method: "GET", url: "/apis/apps/v1", want: traffic.Kind{Verb: "discovery"}, text: "discovery"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request, err := http.NewRequestWithContext(t.Context(), tc.method, "https://server"+tc.url, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", tc.contentType)
			got := traffic.Classify(request)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got.String() != tc.text || got.Writes() != tc.writes {
				t.Errorf("got %q, writes %t; want %q, %t", got, got.Writes(), tc.text, tc.writes)
			}
		})
	}
}

type answer func() (*http.Response, error)

func (a answer) RoundTrip(*http.Request) (*http.Response, error) { return a() }

func TestCounter(t *testing.T) {
	t.Parallel()
	var counter traffic.Counter
	if !counter.Last().IsZero() {
		t.Errorf("an unused counter has a last request at %s", counter.Last())
	}
	send := func(next answer) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://server/api/v1/namespaces/a/secrets/b",
			strings.NewReader("12345"))
		if err != nil {
			t.Fatal(err)
		}
		response, err := counter.Wrap(next).RoundTrip(request)
		if err == nil {
			_ = response.Body.Close()
		}
	}
	status := func(code int) answer {
		return func() (*http.Response, error) {
			return &http.Response{StatusCode: code, Body: io.NopCloser(strings.NewReader(""))}, nil
		}
	}
	send(status(http.StatusOK))
	send(status(http.StatusConflict))
	send(func() (*http.Response, error) { return nil, errors.New("no connection") })

	good := traffic.Kind{Verb: "update", Resource: "secrets"}
	bad := good
	bad.Failed = true
	if diff := cmp.Diff(map[traffic.Kind]int64{good: 1, bad: 2}, counter.Counts()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if counter.Sent() != 15 || counter.Last().IsZero() {
		t.Errorf("sent %d bytes, last at %s; want 15 and a time", counter.Sent(), counter.Last())
	}
	counter.Reset()
	if len(counter.Counts()) != 0 || counter.Sent() != 0 || !counter.Last().IsZero() {
		t.Error("a reset counter is not zero")
	}
}
