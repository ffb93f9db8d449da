// Package ownerstate keeps what a pipeline remembers of each owner between
// passes: its UID, its last write, the conditions it was given, its last error.
package ownerstate
