package reconciletest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
)

func TestAuditLogErrors(t *testing.T) {
	env.Require(t)

	kubeconfig, err := environment.Kubeconfig(env.Config())
	if err != nil {
		t.Fatal(err)
	}

	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}

	t.Setenv(environment.EnvKubeconfig, file)

	given := &environment.Environment{Audit: true}
	given.Setup(t)

	cases := map[string]struct {
		environment *environment.Environment
		want        string
	}{
		"not started":   {environment: &environment.Environment{Audit: true}, want: "the environment does not run"},
		"given cluster": {environment: given, want: "of RECONCILETEST_KUBECONFIG has its own"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := tc.environment.AuditLog()
			if !errors.Is(err, environment.ErrNoAuditLog) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want ErrNoAuditLog with %q, got %v", tc.want, err)
			}
		})
	}
}

// TestAuditLogEndsWithTheEnvironment starts a second API server without an
// audit log, then with one, and stops it.
func TestAuditLogEndsWithTheEnvironment(t *testing.T) {
	t.Parallel()
	auditLog(t) // skips the test if no API server is started

	var second environment.Environment

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
		t.Errorf("an API server that has started has logged its own counted, got %d entries (%v)", len(entries), err)
	}

	if err := second.Stop(); err != nil {
		t.Fatal(err)
	}

	if _, err := log.Entries(); !errors.Is(err, environment.ErrNoAuditLog) {
		t.Errorf("after Stop want ErrNoAuditLog, got %v", err)
	}
}
