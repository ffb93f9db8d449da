// Package world is the cluster of one run, fake or real, with its time and everybody but the operator: stand-ins, garbage
// collection, and whoever creates, changes and deletes the owners.
package world
