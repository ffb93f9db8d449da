// Package declaration has what the builder of a controller declares: each kind with its purposes, its representation in the cache and
// what else stands beside it. A [Catalogue] are the kinds of one controller, checked against each other.
package declaration
