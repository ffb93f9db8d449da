package rights

import (
	internal "github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
)

// ErrNotDeclared is wrapped by the Forbidden error of a request that System.Rules do not allow.
var ErrNotDeclared = internal.ErrNotDeclared
