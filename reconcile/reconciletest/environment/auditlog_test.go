package environment_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

func TestAuditEntriesString(t *testing.T) {
	t.Parallel()

	apply := environment.AuditEntry{
		Request: requests.Request{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web"},
		User:    "admin", Code: http.StatusOK,
	}
	refused := apply
	refused.User, refused.Code = "operator", http.StatusForbidden

	entries := environment.AuditEntries{refused, apply, apply}
	want := "2 patch apps/deployments shop/web by admin: 200\n1 patch apps/deployments shop/web by operator: 403"

	if diff := cmp.Diff(want, entries.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff("no requests", environment.AuditEntries{}.String()); diff != "" {
		t.Errorf("no entries (-want +got):\n%s", diff)
	}

	kept := entries.Where(environment.User("admin"), environment.Asked(requests.Resource("apps", "deployments")))
	if diff := cmp.Diff(environment.AuditEntries{apply, apply}, kept); diff != "" {
		t.Errorf("filtered (-want +got):\n%s", diff)
	}
}

func FuzzParseAuditEvent(f *testing.F) {
	f.Add([]byte(`{"auditID":"1","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/shop/pods?limit=1","verb":"list",` +
		`"user":{"username":"admin"},"objectRef":{"resource":"pods","namespace":"shop","apiVersion":"v1"},"responseStatus":{"code":200}}`))
	f.Add([]byte(`{"requestURI":"/healthz","verb":"get","requestReceivedTimestamp":"2026-01-01T00:00:00.000001Z"}`))
	f.Add([]byte(`{"requestURI":"%"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		entry, err := environment.ParseAuditEvent(line)
		if err != nil {
			return
		}

		if entry.Resource != "" && entry.Path != "" {
			t.Errorf("%q is both of resource and path: %+v", line, entry)
		}

		if again, err := environment.ParseAuditEvent(line); err != nil || again != entry {
			t.Errorf("%q is read differently the second time (%v): %+v", line, err, again)
		}
	})
}
