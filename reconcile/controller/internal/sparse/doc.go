// Package sparse provides informers that keep the objects that controllers need in full, and only identity and metadata of all others.
//
// An [Informer] stores other objects as a type that is not the Go type of the kind. A read of such an object returns an error, never an
// object without its content. The type is the mark: a writer of objects cannot forge it, and a copy cannot lose it. A [Link] names the
// objects that controllers read by name or in a list. The informer keeps these in full, next to its store, while they are needed.
package sparse
