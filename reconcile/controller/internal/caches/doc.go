// Package caches makes the options of the cache that the controllers of a manager share: what it selects, what it keeps whole, and what its
// informers ask for.
package caches
