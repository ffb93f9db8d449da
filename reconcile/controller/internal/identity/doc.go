// Package identity names what a controller leaves on objects, its field manager and its finalizer, and keeps two controllers of one kind of
// owner from having the same.
package identity
