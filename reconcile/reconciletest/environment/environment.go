package environment

import (
	"k8s.io/client-go/rest"

	internal "github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// EnvKubeconfig names the environment variable with a kubeconfig whose cluster the tests run on. It is not KUBECONFIG,
// which points many people at a cluster that they do not want tests on.
const EnvKubeconfig = internal.EnvKubeconfig

var (
	// ErrNoControlPlane reports that neither a kubeconfig nor the binaries of a control plane are there. Its text names what
	// would help.
	ErrNoControlPlane = internal.ErrNoControlPlane
	// ErrNoAuditLog reports that there is no audit log to read. The error that wraps it reports why: the environment does not
	// run, it runs on a given cluster, or nobody set Environment.Audit.
	ErrNoAuditLog = internal.ErrNoAuditLog
)

type (
	// Environment is an API server for the tests of one test binary. Fill in the fields, then call Main from TestMain, or
	// Setup from a Ginkgo BeforeSuite; the zero value is an API server without custom resources.
	//
	// It is, in this order: the cluster of the kubeconfig named by [EnvKubeconfig]; etcd and kube-apiserver started from the
	// folder named by KUBEBUILDER_ASSETS. With neither, tests are skipped, or fail where CI=true.
	Environment = internal.Environment
	// AuditLog reads what the API server of an [Environment] recorded. It is safe for concurrent use. A request that a
	// client has the answer to is in it.
	AuditLog = internal.AuditLog
	// AuditEntry is one request that the API server answered.
	AuditEntry = internal.AuditEntry
	// AuditEntries are requests that the API server answered, in the order it received them.
	AuditEntries = internal.AuditEntries
)

// User returns a filter that matches the requests of one user.
func User(name string) func(AuditEntry) bool { return internal.User(name) }

// Asked returns a filter that matches entries by what was asked, with the filters of [requests.Sent], for example
// Asked(requests.Verb("create"), requests.Resource("", "events")).
func Asked(filters ...func(requests.Request) bool) func(AuditEntry) bool {
	return internal.Asked(filters...)
}

// Kubeconfig returns a kubeconfig file with the credentials of config, for a process that the test starts.
func Kubeconfig(config *rest.Config) ([]byte, error) { return internal.Kubeconfig(config) }
