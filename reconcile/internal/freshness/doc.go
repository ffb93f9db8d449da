// Package freshness determines whether a cache shows a write to an owner, to its metadata or to a child. Only this package compares
// resourceVersions, and all waits for a cache have the same deadline.
package freshness
