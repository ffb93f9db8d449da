package record_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/record"
)

// One pass is recorded and replayed by the version of the code that made it and by the next one. With a manager, the recorder
// goes into the Options of the builder, and tests replay with the package reconcile/reconciletest.
func Example() {
	dir, err := os.MkdirTemp("", "recordings")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	recorder, err := record.New(record.Options{Dir: dir, When: record.Changes})
	if err != nil {
		fmt.Println(err)
		return
	}
	loop, err := pipeline.New(config(shop{message: "hello"}, &engine{}, owner(""), source("one")))
	if err != nil {
		fmt.Println(err)
		return
	}
	request := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "cart"}}
	options := record.ReplayOptions{Scheme: scheme()}
	if _, err := record.Reconciler(loop, recorder, options).Reconcile(context.Background(), request); err != nil {
		fmt.Println(err)
		return
	}

	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	fmt.Println(filepath.Base(files[0]))
	data, err := os.ReadFile(files[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	recording, err := record.Decode(bytes.NewReader(data))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, version := range []string{"hello", "good bye"} {
		replayed, err := record.Replay(context.Background(), config(shop{message: version}, nil), recording, options)
		if err != nil {
			fmt.Println(err)
			return
		}
		after, _ := replayed.Encode()
		fmt.Println(version, string(data) == string(after))
	}
	// Output:
	// shop-shop-cart-20260101T213405.000000678Z.json
	// hello true
	// good bye false
}
