// Package tracking remembers what each owner has read, and finds the owners that an event concerns.
//
// A read by name and a list by selector are remembered before they happen, in the index of their kind. The index finds the owners of
// an object through the values of its labels and fields: an event costs as many steps as the object has of these, not as there
// are reads.
package tracking
