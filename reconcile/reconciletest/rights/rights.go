package rights

import (
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/environment"
	internal "github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
)

// Rights are the rights of an operator under test: a service account that has the rules and nothing else, on a real API
// server. The method Rights of an environment.Environment makes one.
type Rights = environment.Rights

// ErrNotDeclared is inside the Forbidden error of a request that System.Rules do not cover.
var ErrNotDeclared = internal.ErrNotDeclared
