// Package reconciletest tests operators: whether they converge whatever goes wrong, and how they behave on a real API
// server.
//
// [Converge] takes a [System], which is an operator and the world it lives in, and makes each of its API calls fail in
// every way, delays its caches and disturbs its events; whatever happens, the end must be the same:
//
//	func TestConverges(t *testing.T) {
//		reconciletest.Converge(t, reconciletest.System{
//			Setup:    website.SetupWithManager,
//			Scheme:   scheme,
//			CRDPaths: []string{"config/crd"},
//			Owners:   []client.Object{newWebsite("shop")},
//			Change:   func(o client.Object) { o.(*Website).Spec.Replicas = 3 },
//		})
//	}
//
// It works for every controller that is set up with a manager, of this SDK or not, and with [Singleton] also for one that no
// object stands for. Its world is fake, for speed: the
// tracker of client-go's fake clients with what they leave out (UIDs, times, generations, defaults, field ownership by
// schema, dry runs, preconditions, garbage collection). It refuses what the rules of everyday kinds forbid, and knows no
// admission but their defaults. [Scenario] and [Writes] take a real API server, too: System.Environment.
//
// [Environment] is one API server for a test binary, a fresh namespace for each
// test, and clients under any service account:
//
//	var env = &reconciletest.Environment{CRDPaths: []string{"config/crd"}}
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
// [Requests] sits below all clients, where nothing is hidden: it counts what
// really goes to the API server, so that a test can say "this pass sent no
// request", and makes chosen requests fail before or after the server has
// stored them:
//
//	var requests reconciletest.Requests
//	config := requests.Observe(env.Config())
//	... // start a manager with config, wait until it is settled
//	requests.Reset()
//	... // churn
//	if writes := requests.Snapshot().Writes(); len(writes) > 0 {
//		t.Errorf("want no write, got:\n%s", writes)
//	}
//
// [AuditLog] is the same question asked at the other end: what the API server
// itself recorded, with the user and the answer's code, which no client can
// bypass.
//
// [Rights] is an account with the rules that an operator's page derives, and
// nothing else: a suite that runs its operator with it learns from the audit
// log which rule no request used and which request was refused.
//
// [Boundary] reads the sources of an operator and reports where they write or watch without the SDK.
//
// The binaries of the API server come from the folder that KUBEBUILDER_ASSETS
// names; a kubeconfig named by RECONCILETEST_KUBECONFIG wins.
package reconciletest
