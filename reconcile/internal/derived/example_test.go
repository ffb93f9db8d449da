package derived_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/derived"
)

// The value is the number of objects: another one is news, another version of one is none.
func Example() {
	w := newWorld()
	w.set(key("a"), "red")
	value := derived.New(derived.Source{
		List: func(context.Context) ([]client.Object, error) { return []client.Object{w.objects[key("a")]}, nil },
		Get:  func(_ context.Context, name types.NamespacedName) (client.Object, error) { return w.objects[name], nil },
		Each: func(client.Object) any { return 1 }, Merge: func(parts []any) any { return len(parts) },
		MaxBytes: 1 << 20,
	})
	fmt.Println(value.Get(context.Background()))
	w.set(key("a"), "blue")
	fmt.Println(value.Update(context.Background(), key("a")))
	w.set(key("b"), "blue")
	fmt.Println(value.Update(context.Background(), key("b")))
	fmt.Println(value.Get(context.Background()))
	// Output:
	// 1 <nil>
	// false
	// true
	// 2 <nil>
}
