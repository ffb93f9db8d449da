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
// admission but their defaults. [Scenario] takes a real API server, too: System.Environment.
//
// Beside it, each of one idea: environment is a real API server for a test binary; requests counts what goes to the API server, makes
// it fail, and holds passes to a budget; rights runs an operator with what its page allows and nothing else; lint reads sources, files
// and values without running anything; check names what findings are about; matchers are for Gomega.
package reconciletest
