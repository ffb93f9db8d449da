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
		fmt.Println(path, old, "becomes", objects.Edits(old, false)[0])
	}
	// Output: [data color] red becomes red-edited
}
