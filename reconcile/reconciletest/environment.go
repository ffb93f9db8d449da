package reconciletest

import (
	"k8s.io/client-go/rest"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/environment"
)

// EnvKubeconfig names the environment variable with a kubeconfig whose cluster the tests run on. It is not KUBECONFIG,
// which points many people at a cluster that they do not want tests on.
const EnvKubeconfig = environment.EnvKubeconfig

var (
	// ErrNoControlPlane reports that neither a kubeconfig nor the binaries of a control plane are there. Its text names what
	// would help.
	ErrNoControlPlane = environment.ErrNoControlPlane
	// ErrNoAuditLog reports that there is no audit log to read. The error that wraps it reports why: the environment does not
	// run, it runs on a given cluster, or nobody set Environment.Audit.
	ErrNoAuditLog = environment.ErrNoAuditLog
)

type (
	// Environment is an API server for the tests of one test binary. Fill in the fields, then call Main from TestMain, or
	// Setup from a Ginkgo BeforeSuite; the zero value is an API server without custom resources.
	//
	// It is, in this order: the cluster of the kubeconfig named by [EnvKubeconfig]; etcd and kube-apiserver started from the
	// folder named by KUBEBUILDER_ASSETS. With neither, tests are skipped, or fail where CI=true.
	Environment = environment.Environment
	// Rights are the rights of an operator under test: a service account that has the rules and nothing else, on a real API
	// server. [Environment] makes one.
	Rights = environment.Rights
	// AuditLog reads what the API server of an [Environment] recorded. It is safe for concurrent use. A request that a
	// client has the answer to is in it.
	AuditLog = environment.AuditLog
	// AuditEntry is one request that the API server answered.
	AuditEntry = environment.AuditEntry
	// AuditEntries are requests that the API server answered, in the order it received them.
	AuditEntries = environment.AuditEntries
)

// User returns a filter that matches the requests of one user.
func User(name string) func(AuditEntry) bool { return environment.User(name) }

// Asked returns a filter that matches entries by what was asked, with the filters of [Sent], for example
// Asked(Verb("create"), Resource("", "events")).
func Asked(filters ...func(Request) bool) func(AuditEntry) bool { return environment.Asked(filters...) }

// Kubeconfig returns a kubeconfig file with the credentials of config, for a process that the test starts.
func Kubeconfig(config *rest.Config) ([]byte, error) { return environment.Kubeconfig(config) }
