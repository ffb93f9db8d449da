// Package schedule runs the passes of controllers one at a time, in a reproducible order, on a clock that the test moves. Its queues
// replace those of controller-runtime.
package schedule
