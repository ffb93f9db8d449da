package words_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/words"
)

// A decision is compared with a word.
func Example() {
	d := apply.Decision{Verb: words.VerbCreate, Reason: words.ReasonMissing}
	fmt.Println(d.Verb == words.VerbCreate, d.Reason)
	// Output:
	// true Missing
}
