// Package trigger records which events enqueued an owner, and separates events of the controller's own writes from others.
//
// [Triggers] keeps the first event of the next pass and the number of later ones. [StatusWrites] drops the event of a status that the
// controller has written itself. [Unstable] defers the passes of an owner whose plan differs in every pass without an external event.
package trigger
