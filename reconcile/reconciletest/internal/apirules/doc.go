// Package apirules has the rules by which an API server refuses objects of everyday kinds: names, labels, owner references,
// what has to be set, and what cannot be changed.
//
// The messages are those of the API server as far as tests look at them, which is the field and the sort of the error.
package apirules
