package requests_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

func TestParseRequest(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason      string
		method      string
		url         string
		contentType string
		body        string
		want        requests.Request
		line        string
		write       bool
	}{
		"core object": {
			reason: "the core group is empty", method: "GET", url: "/api/v1/namespaces/shop/configmaps/web",
			want: requests.Request{Verb: "get", Resource: "configmaps", Namespace: "shop", Name: "web"},
			line: "get configmaps shop/web",
		},
		"live list": {
			reason: "a list without a resource version is live", method: "GET", url: "/apis/apps/v1/deployments",
			want: requests.Request{Verb: "list", Group: "apps", Resource: "deployments"},
			line: "list apps/deployments",
		},
		"informer list": {
			reason: "resourceVersion=0 is what reflectors send", method: "GET",
			url:  "/apis/apps/v1/deployments?limit=500&resourceVersion=0",
			want: requests.Request{Verb: "list", Group: "apps", Resource: "deployments", Informer: true},
			line: "list apps/deployments",
		},
		"watch": {
			reason: "a watch belongs to a cache", method: "GET", url: "/api/v1/namespaces/shop/pods?watch=true",
			want: requests.Request{Verb: "watch", Resource: "pods", Namespace: "shop", Informer: true},
			line: "watch pods shop",
		},
		"apply": {
			reason: "the content type distinguishes apply from patch", method: "PATCH",
			url: "/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=me&force=true", contentType: "application/apply-patch+yaml",
			want: requests.Request{
				Verb: "apply", Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web", FieldManager: "me",
			},
			line: "apply apps/deployments shop/web", write: true,
		},
		"apply in CBOR": {
			reason: "the encoding does not matter", method: "PATCH",
			url: "/api/v1/namespaces/shop/services/web", contentType: "application/apply-patch+cbor",
			want: requests.Request{Verb: "apply", Resource: "services", Namespace: "shop", Name: "web"},
			line: "apply services shop/web", write: true,
		},
		"status patch": {
			reason: "a subresource is not the object", method: "PATCH",
			url: "/apis/apps/v1/namespaces/shop/deployments/web/status", contentType: "application/merge-patch+json",
			want: requests.Request{
				Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "shop", Name: "web",
			},
			line: "patch apps/deployments/status shop/web", write: true,
		},
		"dry run": {
			reason: "a dry run stores nothing", method: "PUT", url: "/api/v1/namespaces/shop/services/web?dryRun=All",
			want: requests.Request{Verb: "update", Resource: "services", Namespace: "shop", Name: "web", DryRun: true},
			line: "update services shop/web (dry run)",
		},
		"delete": {
			reason: "dryRun in the body of an update is ignored", method: "DELETE", url: "/api/v1/namespaces/shop/services/web",
			body: `{"kind":"DeleteOptions","preconditions":{"uid":"1"},"propagationPolicy":"Background"}`,
			want: requests.Request{Verb: "delete", Resource: "services", Namespace: "shop", Name: "web"},
			line: "delete services shop/web", write: true,
		},
		"delete dry": {
			reason: "clients send dryRun of a delete in the body", method: "DELETE", url: "/api/v1/namespaces/shop/services/web",
			body: `{"kind":"DeleteOptions","dryRun":["All"]}`,
			want: requests.Request{Verb: "delete", Resource: "services", Namespace: "shop", Name: "web", DryRun: true},
			line: "delete services shop/web (dry run)",
		},
		"delete many": {
			reason: "a delete without a name deletes the collection", method: "DELETE", url: "/api/v1/namespaces/shop/pods",
			want: requests.Request{Verb: "deletecollection", Resource: "pods", Namespace: "shop"},
			line: "deletecollection pods shop", write: true,
		},
		"create": {
			reason: "the name of a created object is in its body", method: "POST", url: "/api/v1/namespaces/shop/pods",
			want: requests.Request{Verb: "create", Resource: "pods", Namespace: "shop"},
			line: "create pods shop", write: true,
		},
		"namespace": {
			reason: "a namespace is an object too", method: "DELETE", url: "/api/v1/namespaces/shop",
			want: requests.Request{Verb: "delete", Resource: "namespaces", Name: "shop"},
			line: "delete namespaces shop", write: true,
		},
		"finalize namespace": {
			reason: "finalize is a subresource of the namespace", method: "PUT", url: "/api/v1/namespaces/shop/finalize",
			want: requests.Request{Verb: "update", Resource: "namespaces", Subresource: "finalize", Name: "shop"},
			line: "update namespaces/finalize shop", write: true,
		},
		"behind a proxy": {
			reason: "a path prefix is ignored", method: "GET", url: "/k8s/clusters/c-1/api/v1/nodes/n",
			want: requests.Request{Verb: "get", Resource: "nodes", Name: "n"},
			line: "get nodes n",
		},
		"discovery": {
			reason: "discovery names no resource", method: "GET", url: "/apis/apps/v1",
			want: requests.Request{Verb: "get", Path: "/apis/apps/v1"},
			line: "get /apis/apps/v1",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			request, err := http.NewRequestWithContext(t.Context(), tc.method, "https://server"+tc.url, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}

			request.Header.Set("Content-Type", tc.contentType)

			got := requests.ParseRequest(request)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.line, got.String()); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}

			if got.IsWrite() != tc.write {
				t.Errorf("IsWrite() = %t, want %t", got.IsWrite(), tc.write)
			}
		})
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add("GET", "/api/v1/namespaces/shop/pods/web/log", "")
	f.Add("PATCH", "/apis/apps/v1/namespaces", "application/apply-patch+yaml")
	f.Add("DELETE", "//api///v1//", "")
	f.Fuzz(func(t *testing.T, method, path, contentType string) {
		request, err := http.NewRequestWithContext(t.Context(), method, "https://server/", nil)
		if err != nil {
			t.Skip("no method")
		}

		request.URL.Path = path
		request.Header.Set("Content-Type", contentType)

		got := requests.ParseRequest(request)
		if got.Verb == "" {
			t.Errorf("%s %q has no verb", method, path)
		}

		if (got.Resource == "") == (got.Path == "") && path != "" {
			t.Errorf("%s %q is both or neither of resource and path: %+v", method, path, got)
		}

		if got != requests.ParseRequest(request) {
			t.Errorf("%s %q is read differently the second time", method, path)
		}
	})
}
