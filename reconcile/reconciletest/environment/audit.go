package environment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	auditLogName    = "audit.log"
	auditPolicyName = "policy.yaml"
	// auditMegabytes far exceeds the size of a test's log: the API server starts a new file at this size, by default at 100 MB.
	auditMegabytes = 1 << 14
)

// auditPolicy logs each request once, when it is answered, and a watch also when it begins. It logs bodies, because the options of a
// delete, such as its dry run, are in the body. https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  verbs: [delete, deletecollection%s]
- level: Metadata
`

// configureAudit creates the folder of the audit log and configures the API server. In the mode blocking a request is in the log before
// the client receives the response.
func (e *Environment) configureAudit(arguments *envtest.Arguments) error {
	folder, err := os.MkdirTemp("", "reconciletest-audit-")
	if err != nil {
		return fmt.Errorf("create a folder for the audit log: %w", err)
	}

	e.audit = folder
	policy := filepath.Join(folder, auditPolicyName)

	more := ""
	if e.AuditPatches {
		more = ", patch"
	}

	if err := os.WriteFile(policy, fmt.Appendf(nil, auditPolicy, more), 0o600); err != nil {
		return errors.Join(fmt.Errorf("write the audit policy: %w", err), e.removeAudit())
	}

	arguments.Set("audit-policy-file", policy).
		Set("audit-log-path", filepath.Join(folder, auditLogName)).
		Set("audit-log-mode", "blocking").
		Set("audit-log-maxsize", strconv.Itoa(auditMegabytes))

	return nil
}

// removeAudit removes the audit log, if there is one.
func (e *Environment) removeAudit() error {
	folder := e.audit
	e.audit = ""

	if folder == "" {
		return nil
	}

	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("remove the audit log: %w", err)
	}

	return nil
}

// AuditLog returns a reader of the audit log that starts at its beginning. The error wraps [ErrNoAuditLog] if there is no log; a test
// that also runs on existing clusters should skip then.
func (e *Environment) AuditLog() (*AuditLog, error) {
	e.mu.Lock()
	defer e.mu.Unlock()

	switch {
	case e.server == nil:
		return nil, fmt.Errorf("%w: the environment does not run", ErrNoAuditLog)
	case *e.server.UseExistingCluster:
		return nil, fmt.Errorf("%w: the cluster of %s has its own audit log; only an API server from KUBEBUILDER_ASSETS can be configured to write one",
			ErrNoAuditLog, EnvKubeconfig)
	case e.audit == "":
		return nil, fmt.Errorf("%w: set Audit to true before the environment starts", ErrNoAuditLog)
	default:
		return &AuditLog{path: filepath.Join(e.audit, auditLogName)}, nil
	}
}
