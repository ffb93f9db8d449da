package secrets_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/secrets"
)

func ExampleRules() {
	keys := secrets.Keys{
		"username": secrets.Literal("app"),
		"password": secrets.Random(16),
	}
	for _, rule := range secrets.Rules(keys) {
		fmt.Println(rule.Path)
	}
	// Output:
	// data["password"]
	// data["username"]
}
