// Package environment starts a real API server for the tests of one test binary, with a new namespace for each test and clients for any
// service account:
//
//	var env = &environment.Environment{CRDPaths: []string{"config/crd"}}
//
//	func TestMain(m *testing.M) { os.Exit(env.Main(m)) }
//
//	func TestWebsite(t *testing.T) {
//		namespace := env.Namespace(t)
//		...
//	}
//
// A Ginkgo suite calls env.Setup(GinkgoTB()) in its BeforeSuite instead.
//
// [AuditLog] reads the API server's own audit log, with the user and the status code of each request. No client can bypass it.
//
// The binaries of the API server are in the folder KUBEBUILDER_ASSETS; a kubeconfig in RECONCILETEST_KUBECONFIG takes precedence.
package environment
