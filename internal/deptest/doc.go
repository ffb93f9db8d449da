// Package deptest tests the structure of the repository: which package may
// import which, what each import costs, that each package has a package
// comment, that the pages match the code, and that the library names no
// product. It contains no code.
package deptest
