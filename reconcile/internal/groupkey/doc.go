// Package groupkey writes and reads the annotations that map an object to the groups that own it or contribute to it.
package groupkey
