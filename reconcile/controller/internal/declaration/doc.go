// Package declaration models the declarations of a controller's builder: each kind with its purposes, its representation in the cache and
// its options. A [Catalogue] has the kinds of one controller, checked for consistency.
package declaration
