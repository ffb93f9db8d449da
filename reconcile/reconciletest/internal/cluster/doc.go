// Package cluster models the cluster of one run, fake or real, with its clock and all other clients: stand-ins, garbage collection, and the
// user who creates, changes and deletes the owners.
package cluster
