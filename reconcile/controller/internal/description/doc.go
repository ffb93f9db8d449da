// Package description derives the page of a controller from its declared kinds: the watches that enqueue its owners, the kinds that it
// reads and writes, and the minimal RBAC for them.
package description
