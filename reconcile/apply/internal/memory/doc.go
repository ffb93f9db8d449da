// Package memory keeps what an engine remembers of owners and their children
// between passes. Nothing of it is needed to be right: a new process starts
// without. A [Census] is shared by all owners.
package memory
