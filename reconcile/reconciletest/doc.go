// Package reconciletest tests whether operators converge despite faults, and how they behave on a real API server.
//
// [Converge] takes a [System], which describes an operator and its cluster. It makes each API call fail in several ways, delays caches
// and disturbs events. The end state must always be the same:
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
// It works for every controller that is set up with a manager, of this SDK or not, and with [Singleton] for controllers without an owner
// object. For speed it uses a fake API server: the tracker of client-go's fake clients, extended by UIDs, times, generations, defaults,
// field ownership by schema, dry runs, preconditions and garbage collection. It validates common kinds and sets their defaults; it has no
// other admission. [Scenario] can use a real API server, too: System.Environment.
//
// The other packages: environment starts a real API server for a test binary; requests counts requests to the API server and injects
// faults; rights provokes the use of rarely used permissions; lint checks sources, files and values without running the operator; check
// names the checks of findings; matchers contains matchers for Gomega.
package reconciletest
