// Package environment starts a real API server for the tests of one test binary, with a fresh namespace for each test and
// clients under any service account:
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
// A suite of Ginkgo calls env.Setup(GinkgoTB()) in its BeforeSuite instead.
//
// [AuditLog] is what the API server itself recorded, with the user and the answer's code, which no client can bypass.
//
// The binaries of the API server come from the folder that KUBEBUILDER_ASSETS
// names; a kubeconfig named by RECONCILETEST_KUBECONFIG wins.
package environment
