// Package fingerprint tells equal values from different ones without keeping them: two values of one type with the same
// fingerprint are deeply equal, also in their unexported fields, as far as SHA-256 has no collisions.
package fingerprint
