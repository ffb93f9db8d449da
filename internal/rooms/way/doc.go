// Command way counts through which rooms of the apply engine a planned child passes while it is decided about and sent:
//
//	go run ./internal/rooms/way
//
// It adds a call at the beginning of every function of the engine, in a copy of the source that only this run compiles (go run
// -overlay), and applies a plan of one child to a fake API server, in the situations that it prints. A room is a package, or a file. A
// stay is one visit to a room: a room is visited when one of its functions is called from another room, and again when that function goes
// on to call another room after the call has come back. A return is a visit to a room that was left before, so that returns are stays
// minus rooms. A call in a loop counts once, and so does a function that calls itself. The packages below the words of plans, which compare
// and encode values, are a stay each time they are asked; what they call in turn is not followed. With -v it prints the rooms.
package main
