package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// serverTimeout is the timeout for starting and for stopping etcd and kube-apiserver, each, unless the variables of envtest override it.
const serverTimeout = 3 * time.Minute

// Environment is an API server for the tests of one test binary. Set the fields, then call Main from TestMain, or Setup from a Ginkgo
// BeforeSuite. The zero value is an API server without custom resources.
//
// It uses the cluster of the kubeconfig in [EnvKubeconfig], else it starts etcd and kube-apiserver from the folder KUBEBUILDER_ASSETS.
// With neither, tests are skipped, or fail if CI=true.
//
// An API server has no controllers: namespaces remain Terminating, there is no garbage collection and no pod runs.
type Environment struct {
	// CRDPaths are files, or folders with files, of CustomResourceDefinitions
	// to install. A path that does not exist is an error.
	CRDPaths []string
	// CRDs are installed in addition to CRDPaths.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// Scheme is the scheme of Client, such as that of operator.Operator.Scheme. Default: client-go's built-in kinds.
	Scheme *runtime.Scheme
	// AdmissionPlugins are enabled in addition to the API server's defaults, for example OwnerReferencesPermissionEnforcement. An existing
	// cluster ignores them.
	AdmissionPlugins []string
	// FeatureGates are set on the API server, for example "ShardedListAndWatch=true". An unknown gate prevents the start. An existing
	// cluster ignores them.
	FeatureGates []string
	// Audit makes the API server log every request before it responds, for AuditLog. Default false. An existing cluster ignores it.
	Audit bool
	// AuditPatches adds the bodies of patches to the log, as AuditEntry.Patch. Default false. It requires Audit.
	AuditPatches bool

	mu      sync.Mutex
	audit   string // folder of the audit log; empty without one
	server  *envtest.Environment
	config  *rest.Config
	client  client.Client
	missing error
}

// Start starts the API server and installs the CRDs. It returns an error that wraps [ErrNoControlPlane] if there is none. Most tests use
// Main or Setup instead, which call it.
func (e *Environment) Start() error {
	e.mu.Lock()
	defer e.mu.Unlock()

	if e.server != nil {
		return errors.New("start the environment: it is already running")
	}

	server, err := e.prepare()
	if err != nil {
		return err
	}

	config, err := server.Start()
	if err != nil {
		// Running parts must not outlive the test binary.
		return errors.Join(fmt.Errorf("start the API server: %w", err), server.Stop(), e.removeAudit())
	}

	c, err := client.New(config, client.Options{Scheme: e.Scheme})
	if err != nil {
		return errors.Join(fmt.Errorf("connect to the API server: %w", err), server.Stop(), e.removeAudit())
	}

	e.server, e.config, e.client = server, config, c

	return nil
}

// prepare selects the API server.
func (e *Environment) prepare() (*envtest.Environment, error) {
	server := &envtest.Environment{
		Scheme:                e.Scheme,
		CRDDirectoryPaths:     e.CRDPaths,
		CRDs:                  e.CRDs,
		ErrorIfCRDPathMissing: true,
	}

	// envtest's default of 20 seconds is too short if several suites start at once on few cores.
	if os.Getenv("KUBEBUILDER_CONTROLPLANE_START_TIMEOUT") == "" {
		server.ControlPlaneStartTimeout = serverTimeout
	}

	if os.Getenv("KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT") == "" {
		server.ControlPlaneStopTimeout = serverTimeout
	}

	given := os.Getenv(EnvKubeconfig)
	existing := given != ""
	server.UseExistingCluster = &existing

	if existing {
		config, err := clientcmd.BuildConfigFromFlags("", given)
		if err != nil {
			return nil, fmt.Errorf("load the kubeconfig that %s names: %w", EnvKubeconfig, err)
		}

		config.QPS, config.Burst = 1000, 2000
		server.Config = config

		return server, nil
	}

	folder, err := findAssets()
	if err != nil {
		return nil, err
	}

	server.BinaryAssetsDirectory = folder

	arguments := server.ControlPlane.GetAPIServer().Configure()
	// Without these two the API server looks for a network interface besides loopback, and warns every few seconds.
	arguments.Set("advertise-address", "127.0.0.1").Set("endpoint-reconciler-type", "none")
	// The server ends watches immediately when it stops. The default is to wait a minute for clients that still watch.
	arguments.Set("shutdown-watch-termination-grace-period", "1s")

	for _, plugin := range e.AdmissionPlugins {
		arguments.Append("enable-admission-plugins", plugin)
	}

	if len(e.FeatureGates) > 0 {
		arguments.Set("feature-gates", strings.Join(e.FeatureGates, ","))
	}

	if e.Audit {
		if err := e.configureAudit(arguments); err != nil {
			return nil, err
		}
	}

	return server, nil
}

// Stop stops the API server. On an existing cluster it keeps the CRDs, which may be in use. Stopping an environment that does not run is
// not an error.
func (e *Environment) Stop() error {
	e.mu.Lock()
	defer e.mu.Unlock()

	if e.server == nil {
		return nil
	}

	server := e.server
	e.server, e.config, e.client = nil, nil, nil

	if err := errors.Join(server.Stop(), e.removeAudit()); err != nil {
		return fmt.Errorf("stop the API server: %w", err)
	}

	return nil
}

// Config returns a copy of the administrator's configuration, with a high client-side rate limit. It is nil if the environment does not
// run.
func (e *Environment) Config() *rest.Config {
	e.mu.Lock()
	defer e.mu.Unlock()

	if e.config == nil {
		return nil
	}

	return rest.CopyConfig(e.config)
}

// Client returns the administrator's client, which does not use a cache. It is nil if the environment does not run.
func (e *Environment) Client() client.Client {
	e.mu.Lock()
	defer e.mu.Unlock()

	return e.client
}

// Main is the body of a TestMain: it starts the environment, runs the tests and stops it.
//
//	func TestMain(m *testing.M) { os.Exit(env.Main(m)) }
//
// Without a control plane the tests still run, and those that call Require or Namespace are skipped, unless CI=true.
func (e *Environment) Main(m *testing.M) int {
	if err := e.Start(); err != nil {
		if !errors.Is(err, ErrNoControlPlane) || failsWithout() {
			fmt.Fprintln(os.Stderr, "FAIL:", err)

			return 1
		}

		fmt.Fprintln(os.Stderr, "SKIP:", err)

		e.missing = err
	}

	code := m.Run()

	if err := e.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)

		return 1
	}

	return code
}

// Setup starts the environment and stops it when t ends. Call it once, from a Ginkgo BeforeSuite as env.Setup(GinkgoTB()), or from a
// single test. Without a control plane t is skipped, or fails if CI=true.
func (e *Environment) Setup(t testing.TB) {
	t.Helper()

	err := e.Start()

	switch {
	case err == nil:
	case errors.Is(err, ErrNoControlPlane) && !failsWithout():
		t.Skip(err)
	default:
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// Require skips t if Main found no control plane, and fails it if the environment was not started.
func (e *Environment) Require(t testing.TB) {
	t.Helper()

	if e.missing != nil {
		t.Skip(e.missing)
	}

	if e.Client() == nil {
		t.Fatal("the environment does not run: call Main from TestMain, or Setup from BeforeSuite")
	}
}

// ServiceAccountConfig returns a configuration that authenticates only with a token of an existing service account. The token is valid
// for an hour.
func (e *Environment) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	admin := e.Config()
	if admin == nil {
		return nil, errors.New("issue a token: the environment does not run")
	}

	token, err := requestToken(ctx, e.Client(), namespace, name)
	if err != nil {
		return nil, err
	}

	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = token
	config.QPS, config.Burst = admin.QPS, admin.Burst

	return config, nil
}

// Kubeconfig returns a kubeconfig file with the credentials of config, for another process.
func Kubeconfig(config *rest.Config) ([]byte, error) {
	const name = "reconciletest"

	file := clientcmdapi.Config{
		CurrentContext: name,
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server: config.Host, CertificateAuthorityData: config.CAData,
			CertificateAuthority: config.CAFile, InsecureSkipTLSVerify: config.Insecure,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			Token: config.BearerToken, ClientCertificateData: config.CertData, ClientCertificate: config.CertFile,
			ClientKeyData: config.KeyData, ClientKey: config.KeyFile,
		}},
	}

	data, err := clientcmd.Write(file)
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig for %s: %w", config.Host, err)
	}

	return data, nil
}

// requestToken requests a token of a service account from the API server.
func requestToken(ctx context.Context, c client.Client, namespace, name string) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	request := &authenticationv1.TokenRequest{}

	if err := c.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("issue a token for service account %s/%s: %w", namespace, name, err)
	}

	return request.Status.Token, nil
}
