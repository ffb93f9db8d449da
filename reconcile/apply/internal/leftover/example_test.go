package leftover_test

import (
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/leftover"
)

// A scan answers for all sets until one of them has got a member.
func Example() {
	var scan leftover.Scan
	kind, now, walks := &intent.Kind{}, time.Unix(0, 0), 0
	walk := func(*intent.Kind) (map[uint64]leftover.Hash, error) {
		walks++
		return map[uint64]leftover.Hash{1: 11, 2: 22}, nil
	}
	fmt.Println(scan.Scanned(kind, 1, now, walk))
	scan.Mark(2)
	fmt.Println(scan.Scanned(kind, 2, now, walk))
	fmt.Println(walks)
	// Output:
	// 11 true
	// 22 false
	// 1
}
