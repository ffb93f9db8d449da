package trace_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/internal/rooms/trace"
)

// A way through three rooms: the loop counts once, and so does what a leaf calls.
func Example() {
	packages := trace.NewRecorder(false, []string{"words"}, "house.Enter")
	trace.Follow(packages)
	defer trace.Follow()

	words := func() {
		defer trace.Call("words/words.go", "words.Say")()
		trace.Call("letters/letters.go", "letters.Spell")()
	}
	kitchen := func() {
		defer trace.Call("kitchen/kitchen.go", "kitchen.Cook")()
		words()
	}
	func() {
		defer trace.Call("house/house.go", "house.Enter")()
		for range 3 {
			words()
		}
		kitchen()
	}()
	words() // not below the root

	way := packages.Take()
	fmt.Println(way.Short())
	fmt.Println(way.Calls, "calls,", len(way.Stays), "stays,", way.Rooms(), "rooms,", way.Returns(), "returns")
	// Output:
	// house words house kitchen words
	// 3 calls, 5 stays, 3 rooms, 2 returns
}
