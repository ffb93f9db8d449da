// Package schedule runs the passes of controllers one at a time, in an order that can be repeated, on a clock that the test
// moves. Its queues take the place of controller-runtime's.
package schedule
