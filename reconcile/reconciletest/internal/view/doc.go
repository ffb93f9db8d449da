// Package view is the cache of one instance of an operator: a manager's cache in all but time, which the test moves. It lags,
// and drops, doubles and reorders events, as a case wants it.
package view
