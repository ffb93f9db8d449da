package compare_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/compare"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

func Example() {
	set, err := managedfields.Parse([]byte(`{"f:data":{"f:color":{}}}`))
	if err != nil {
		panic(err)
	}
	intent := map[string]any{"data": map[string]any{"color": "green"}}
	live := map[string]any{"data": map[string]any{"color": "blue", "size": "theirs"}}
	comparison := compare.Comparison{Report: func(d compare.Difference) {
		fmt.Printf("%s: %v -> %v\n", d.Path, d.Live, d.Intent)
	}}
	comparison.Object(set, intent, live)
	// Output: .data.color: blue -> green
}
