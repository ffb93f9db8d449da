// Package content encodes planned objects into the content of an apply, with only the fields that their author has set, and computes
// hashes that identify equal plans.
package content
