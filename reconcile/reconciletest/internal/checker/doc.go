// Package checker contains the checks: it compares each run with the runs without faults, and checks the end state, the intermediate
// states and the operator's own status.
package checker
