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
	//
	//	type Environment struct {
	//		// CRDPaths are files, or folders with files, of CustomResourceDefinitions
	//		// to install. A path that does not exist is an error.
	//		CRDPaths []string
	//		// CRDs are installed besides those in CRDPaths.
	//		CRDs []*apiextensionsv1.CustomResourceDefinition
	//		// Scheme is the scheme of Client. Nil means client-go's built-in kinds.
	//		Scheme *runtime.Scheme
	//		// AdmissionPlugins are enabled besides the API server's defaults, for
	//		// example OwnerReferencesPermissionEnforcement. A given cluster ignores them.
	//		AdmissionPlugins []string
	//		// FeatureGates are set on the API server, for example "ShardedListAndWatch=true". One that it does not know keeps it from starting. A given
	//		// cluster ignores them.
	//		FeatureGates []string
	//		// Audit makes the API server log every request before it answers, for
	//		// AuditLog. Default false. A given cluster ignores it.
	//		Audit bool
	//		// AuditPatches makes the log have what patches ask for, too, as AuditEntry.Patch. Default false. It does nothing without Audit.
	//		AuditPatches bool
	//		// contains filtered or unexported fields
	//	}
	//
	//	// AuditLog returns a reader of the audit log that starts at its beginning. The
	//	// error wraps [ErrNoAuditLog] where there is no log; a test that also runs on
	//	// given clusters skips then.
	//	func (e *Environment) AuditLog() (*AuditLog, error)
	//
	//	// Client returns the administrator's client, which reads and writes without a
	//	// cache. It is nil when the environment does not run.
	//	func (e *Environment) Client() client.Client
	//
	//	// Config returns a copy of the administrator's configuration, with a client
	//	// side rate limit that is no obstacle. It is nil when the environment does not
	//	// run.
	//	func (e *Environment) Config() *rest.Config
	//
	//	// Installed applies what folder/kustomization.yaml lists, runs the operator as the account, and with the arguments and the environment, of
	//	// the Deployment among it, and waits until every object of folder/samples/*.yaml is Ready. With -v it prints their status.
	//	//
	//	// No controller runs but the operator: where a sample is ready only when a Deployment is, a stand-in such as
	//	// reconciletest.DeploymentsAvailable has to be called with the client of the environment, again and again, while Run runs.
	//	//
	//	// The API server reaches the operator's webhooks on this machine. What an operator serves besides, and where its lease is, is said by
	//	// arguments that it is given last. Run runs the operator until ctx ends; with package operator:
	//	//
	//	// 	env.Installed(t, "config", func(ctx context.Context, config *rest.Config, args []string) error {
	//	// 		o := program()
	//	// 		o.Config = config
	//	// 		return o.Run(ctx, args, io.Discard, io.Discard)
	//	// 	})
	//	func (e *Environment) Installed(t testing.TB, folder string, run func(ctx context.Context, config *rest.Config, args []string) error)
	//
	//	// Main is the body of a TestMain: it starts the environment, runs the tests
	//	// and stops it.
	//	//
	//	// 	func TestMain(m *testing.M) { os.Exit(env.Main(m)) }
	//	//
	//	// Without a control plane the tests run all the same, and those that call
	//	// Require or Namespace are skipped, unless CI=true.
	//	func (e *Environment) Main(m *testing.M) int
	//
	//	// Namespace creates a namespace for t alone and returns its name. It is deleted
	//	// when t ends; on an API server without controllers it stays Terminating, and
	//	// what is in it stays too. Without a control plane t is skipped, see Require.
	//	func (e *Environment) Namespace(t testing.TB) string
	//
	//	// Require skips t when Main found no control plane, and fails it when the
	//	// environment was never started.
	//	func (e *Environment) Require(t testing.TB)
	//
	//	// Rights makes a service account with the rules and nothing else. Without a control plane t is skipped, see Require.
	//	func (e *Environment) Rights(t testing.TB, rules []rbacv1.PolicyRule) *Rights
	//
	//	// ServiceAccountConfig returns a configuration that authenticates with a token
	//	// of a service account, which must exist, and with nothing else. The token is
	//	// valid for an hour.
	//	func (e *Environment) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error)
	//
	//	// Setup starts the environment and stops it when t ends: call it once, from a
	//	// Ginkgo BeforeSuite as env.Setup(GinkgoTB()), or from a single test. Without a
	//	// control plane t is skipped, or fails where CI=true.
	//	func (e *Environment) Setup(t testing.TB)
	//
	//	// Start starts the API server and installs the CRDs. It returns an error that
	//	// wraps [ErrNoControlPlane] when there is nothing to start. Most tests want
	//	// Main or Setup instead, which call it.
	//	func (e *Environment) Start() error
	//
	//	// Stop stops what Start started. On a given cluster it leaves the CRDs, which
	//	// may be in use. Stopping an environment that does not run is no error.
	//	func (e *Environment) Stop() error
	Environment = internal.Environment
	// AuditLog reads what the API server of an [Environment] recorded. It is safe for concurrent use. A request that a
	// client has the answer to is in it.
	//
	//	type AuditLog struct {
	//		// contains filtered or unexported fields
	//	}
	//
	//	// Entries returns what was logged since the log began or the last Reset and
	//	// matches all filters.
	//	func (l *AuditLog) Entries(filters ...func(AuditEntry) bool) (AuditEntries, error)
	//
	//	// Reset forgets what was logged so far, also watches that began so far and
	//	// end later.
	//	func (l *AuditLog) Reset() error
	AuditLog = internal.AuditLog
	// AuditEntry is one request that the API server answered.
	//
	//	type AuditEntry struct {
	//		// Request is what was asked. Unlike in [Requests] its Verb is that of the
	//		// API server's authorisation: a server-side apply is a patch. The name of an
	//		// object that is created is there only where the server knew it.
	//		requests.Request
	//		// User is who the request was authorised for: the impersonated user, if
	//		// there is one, for example system:serviceaccount:shop:operator.
	//		User string
	//		// Code is the HTTP status of the answer; 403 is a right that is missing.
	//		Code int
	//		// Message is what the server said when it refused the request; empty otherwise.
	//		Message string
	//		// Patch is what a patch asks for, as JSON, where Environment.AuditPatches is set; empty otherwise.
	//		Patch string
	//		// Received is when the request arrived, Completed when it was answered, by
	//		// the API server's clock, in microseconds. A watch that goes on has the
	//		// time of its beginning as Completed.
	//		Received, Completed time.Time
	//	}
	//
	//	// String returns the entry as one line for a failure message, for example
	//	// `patch apps/deployments shop/web by admin: 200`.
	//	func (e AuditEntry) String() string
	AuditEntry = internal.AuditEntry
	// AuditEntries are requests that the API server answered, in the order it received them.
	//
	//	type AuditEntries []AuditEntry
	//
	//	// Requests returns what was asked, for the filters of [Sent].
	//	func (e AuditEntries) Requests() requests.Sent
	//
	//	// String returns one line per combination of request, user and code with how
	//	// often it occurs, sorted, for failure messages. No entry gives "no requests".
	//	func (e AuditEntries) String() string
	//
	//	// Where returns the entries that match all filters, in order.
	//	func (e AuditEntries) Where(filters ...func(AuditEntry) bool) AuditEntries
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
