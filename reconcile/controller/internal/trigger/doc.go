// Package trigger remembers what made the next pass of an owner start, and tells events of the controller's own writes from others.
//
// [Triggers] keep the first event and the number of those that came after it. [StatusWrites] hold back the event of a status that the
// controller has written itself. [Unstable] defers the passes of an owner whose plan differs in every pass without an event of
// anybody else.
package trigger
