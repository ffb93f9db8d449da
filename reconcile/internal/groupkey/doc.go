// Package groupkey writes and reads the annotations that lead from an object to
// the groups whose child it is, or that have a part of it.
package groupkey
