// Package e2e tests the built binary of the quickstart: processes that share a
// lease or the shards of the owners, and that are killed while owners change.
package e2e
