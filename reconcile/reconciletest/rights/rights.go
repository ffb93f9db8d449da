package rights

import (
	internal "github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
)

// ErrNotDeclared is inside the Forbidden error of a request that System.Rules do not cover.
var ErrNotDeclared = internal.ErrNotDeclared
