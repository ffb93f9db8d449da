package rights

import (
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/environment"
	internal "github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
)

// Rights are the rights of an operator under test: a service account that has the rules and nothing else, on a real API
// server. The method Rights of an environment.Environment makes one.
//
//	type Rights struct {
//		// contains filtered or unexported fields
//	}
//
//	// Await waits until a request has used the right, written as in [Rights.Check], and fails t when none does within two
//	// minutes. It is for what the operator does in its own time, such as saying something again, which patches an event.
//	//
//	// On a cluster without an audit log of ours it says so and waits for nothing.
//	func (r *Rights) Await(t testing.TB, name string)
//
//	// Check fails t for each right that no request used, and for each request that was refused. A right is a verb and a
//	// resource, as in "patch apps/deployments/status". Unused are rights that may be so, each with the reason. Rights whose
//	// absence [Rights.Without] has shown count as used, so does list where there was a watch: informers fall back to it on API
//	// servers that do not stream lists. A patch that creates an object uses create, too, as a server-side apply does.
//	//
//	// On a cluster without an audit log of ours it says so and checks nothing.
//	func (r *Rights) Check(t testing.TB, unused map[string]string)
//
//	// Config returns a copy of the configuration that has the rights, for a manager in this process, or with [Kubeconfig]
//	// for one of its own.
//	func (r *Rights) Config() *rest.Config
//
//	// User is the name of the service account in the [AuditLog].
//	func (r *Rights) User() string
//
//	// Without takes a right away while do runs, and fails t unless the API server refuses a request of the operator
//	// within a minute: do has to give it something to do. What was refused is not tried again at once; change the owner
//	// afterwards, so that it is. It is for what no request shows by itself, because the API server asks for it
//	// while it handles another request: finalizers of owners whose deletion is blocked, and rights that are granted to
//	// others. Informers that run already go on without list and watch.
//	func (r *Rights) Without(t testing.TB, name string, do func())
type Rights = environment.Rights

// ErrNotDeclared is inside the Forbidden error of a request that System.Rules do not cover.
var ErrNotDeclared = internal.ErrNotDeclared
