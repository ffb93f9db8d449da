// Package memory stores the state of owners and their children between passes. It only saves requests: a new process starts without it. A
// [Census] is shared by all owners.
package memory
