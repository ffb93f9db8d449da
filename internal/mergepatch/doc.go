// Package mergepatch computes and applies JSON merge patches (RFC 7396) between decoded JSON objects. Maps are merged field
// by field, lists and scalars are replaced, null deletes.
package mergepatch
