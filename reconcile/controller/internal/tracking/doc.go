// Package tracking records the reads of each owner, and finds the owners that an event concerns.
//
// A read by name and a list by selector are recorded before they happen, in the index of their kind. The index finds the owners of
// an object through the values of its labels and fields. The cost of an event depends on the number of its labels and fields, not on the
// number of reads.
package tracking
