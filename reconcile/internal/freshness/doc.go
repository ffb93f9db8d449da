// Package freshness knows whether a cache shows what was written: to an owner,
// to its metadata, to a child. It is the one place that compares
// resourceVersions, and all waits for a cache end at one deadline.
package freshness
