// Package howto has the code of the pages in docs/how-to that no other example has: one controller of websites with a secret, objects
// that may exist already, immutable objects, errors and an end.
package howto
