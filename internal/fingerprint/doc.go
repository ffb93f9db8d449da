// Package fingerprint computes fingerprints of Go values: two values of one type with the same fingerprint are deeply equal, also in
// their unexported fields, except for SHA-256 collisions.
package fingerprint
