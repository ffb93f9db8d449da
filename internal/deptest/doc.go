// Package deptest holds the tests of the house itself: what an import of each
// package costs, which package may import which, that every package is
// documented by an example that runs, and that nothing of a product is in the
// library. It contains no code.
package deptest
