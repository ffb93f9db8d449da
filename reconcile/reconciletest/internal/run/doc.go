// Package run carries out one run: the steps of a story, with instances of the operator that start, pass, crash and overlap, until
// nothing is left to do.
package run
