package identity_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/identity"
)

func ExampleOf() {
	fmt.Println(identity.Of("shop", apply.Options{}))
	fmt.Println(identity.Of("shop", apply.Options{FieldManager: "shop-v2", Domain: "example.com"}))
	// Output:
	// {shop shop reconcilekit.dev/shop}
	// {shop shop-v2 example.com/shop-v2}
}
