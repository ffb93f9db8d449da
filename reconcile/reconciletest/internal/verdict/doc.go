// Package verdict has the checks: it holds each run against what the runs without faults have shown, its end, what was stored on the way,
// and what the operator says of itself.
package verdict
