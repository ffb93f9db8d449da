// Command rooms counts, for packages of this module, what makes a package hard to
// hold in the head: files, lines, lines of tests, and references between files
// that point back.
//
//	go run ./internal/rooms ./reconcile/apply/...
//
// With -v it prints the references that point back as well.
//
// A reference is a pair of files of one package of which the first uses a name
// that the second declares: a function, a type, a method, a field, a constant.
// The files are put in an order with few references from a lower to a higher
// file (Eades, Lin and Smyth, https://doi.org/10.1016/0020-0190(93)90079-O); those
// that are left point back. A test of this package holds how much of each may be.
package main
