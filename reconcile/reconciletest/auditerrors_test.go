package reconciletest_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

func TestAuditLogErrors(t *testing.T) {
	env.Require(t)

	kubeconfig, err := reconciletest.Kubeconfig(env.Config())
	if err != nil {
		t.Fatal(err)
	}

	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}

	t.Setenv(reconciletest.EnvKubeconfig, file)

	given := &reconciletest.Environment{Audit: true}
	given.Setup(t)

	cases := map[string]struct {
		environment *reconciletest.Environment
		want        string
	}{
		"not started":   {environment: &reconciletest.Environment{Audit: true}, want: "the environment does not run"},
		"given cluster": {environment: given, want: "that RECONCILETEST_KUBECONFIG names keeps its own"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := tc.environment.AuditLog()
			if !errors.Is(err, reconciletest.ErrNoAuditLog) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want ErrNoAuditLog with %q, got %v", tc.want, err)
			}
		})
	}
}

// TestAuditLogGoesWithTheEnvironment starts a second API server without an
// audit log, then with one, and stops it.
func TestAuditLogGoesWithTheEnvironment(t *testing.T) {
	t.Parallel()
	auditLog(t) // skips where no API server is started

	var second reconciletest.Environment

	second.Setup(t)

	if _, err := second.AuditLog(); err == nil || !strings.Contains(err.Error(), "set Audit to true") {
		t.Errorf("without Audit want an error that says to set it, got %v", err)
	}

	if err := second.Stop(); err != nil {
		t.Fatal(err)
	}

	second.Audit = true
	second.Setup(t)

	log, err := second.AuditLog()
	if err != nil {
		t.Fatal(err)
	}

	if entries, err := log.Entries(); err != nil || len(entries) == 0 {
		t.Errorf("an API server that has started has logged its own requests, got %d entries (%v)", len(entries), err)
	}

	if err := second.Stop(); err != nil {
		t.Fatal(err)
	}

	if _, err := log.Entries(); !errors.Is(err, reconciletest.ErrNoAuditLog) {
		t.Errorf("after Stop want ErrNoAuditLog, got %v", err)
	}
}

func TestAuditEntriesString(t *testing.T) {
	t.Parallel()

	apply := reconciletest.AuditEntry{
		Request: reconciletest.Request{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web"},
		User:    "admin", Code: http.StatusOK,
	}
	refused := apply
	refused.User, refused.Code = "operator", http.StatusForbidden

	entries := reconciletest.AuditEntries{refused, apply, apply}
	want := "2 patch apps/deployments shop/web by admin: 200\n1 patch apps/deployments shop/web by operator: 403"

	if diff := cmp.Diff(want, entries.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff("no requests", reconciletest.AuditEntries{}.String()); diff != "" {
		t.Errorf("no entries (-want +got):\n%s", diff)
	}

	kept := entries.Where(reconciletest.User("admin"), reconciletest.Asked(reconciletest.Resource("apps", "deployments")))
	if diff := cmp.Diff(reconciletest.AuditEntries{apply, apply}, kept); diff != "" {
		t.Errorf("filtered (-want +got):\n%s", diff)
	}
}

func FuzzParseAuditEvent(f *testing.F) {
	f.Add([]byte(`{"auditID":"1","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/shop/pods?limit=1","verb":"list",` +
		`"user":{"username":"admin"},"objectRef":{"resource":"pods","namespace":"shop","apiVersion":"v1"},"responseStatus":{"code":200}}`))
	f.Add([]byte(`{"requestURI":"/healthz","verb":"get","requestReceivedTimestamp":"2026-01-01T00:00:00.000001Z"}`))
	f.Add([]byte(`{"requestURI":"%"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		entry, err := reconciletest.ParseAuditEvent(line)
		if err != nil {
			return
		}

		if entry.Resource != "" && entry.Path != "" {
			t.Errorf("%q is both of resource and path: %+v", line, entry)
		}

		if again, err := reconciletest.ParseAuditEvent(line); err != nil || again != entry {
			t.Errorf("%q is read differently the second time (%v): %+v", line, err, again)
		}
	})
}
