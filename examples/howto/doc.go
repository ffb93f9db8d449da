// Package howto contains the code of the pages in docs/how-to that is in no other example: a controller of websites with a generated
// secret, existing objects, immutable objects, errors and a finalizer.
package howto
