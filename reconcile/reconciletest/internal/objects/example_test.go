package objects_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

func Example() {
	content := map[string]any{"kind": "ConfigMap", "data": map[string]any{"color": "red"}}
	paths, _ := objects.Leaves(content)
	for _, path := range paths {
		old, _ := objects.At(content, path)
		wrong, _ := objects.Edit(old, false)
		fmt.Println(path, old, "becomes", wrong)
	}
	// Output: [data color] red becomes red-edited
}
