package memory_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// A failure stands for the situation in which it was met; the time until it is
// tried again doubles.
func Example() {
	now, limit := time.Unix(0, 0), time.Minute
	var child memory.Child
	failure := memory.Failure{Situation: memory.Situation{Intent: 1}, Err: errors.New("denied")}
	fmt.Println(child.Refused(failure, now, limit), child.Refused(failure, now, limit))
	fmt.Println(child.FailedIn(memory.Situation{Intent: 1}, now).Err)
	fmt.Println(child.FailedIn(memory.Situation{Intent: 2}, now) == nil)
	// Output:
	// 1s 2s
	// denied
	// true
}
