// Package apirules implements the rules by which an API server rejects objects of common kinds: names, labels, owner references, required
// and immutable fields.
//
// Messages match those of the API server in the field and the type of the error.
package apirules
