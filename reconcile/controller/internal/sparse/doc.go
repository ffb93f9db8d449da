// Package sparse keeps in a cache whole what is needed of a kind, and of all other objects what identifies them and what owners are woken by.
//
// An [Informer] holds an object of others as something that has no Go type of the kind. Whoever reads it there gets an error, never an
// object without its content: the mark is the type, which nobody who writes objects can forge and no copy can lose. What controllers read by name or in a
// list, their [Link] names, and the informer keeps it whole beside its store for as long as they do.
package sparse
