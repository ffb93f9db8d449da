// Package intent hashes what a plan says about a child, and parses its rules for
// single fields.
package intent
