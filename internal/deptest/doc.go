// Package deptest tests the structure of the repository: the imports of each package and their cost, package comments, pages that match
// the code, and that the library names no product. It contains no code.
package deptest
