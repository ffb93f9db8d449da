package applyset_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

func Example() {
	recorded := &applyset.Inventory{Kinds: []schema.GroupKind{{Kind: "Secret"}}}
	planned := &applyset.Inventory{Kinds: []schema.GroupKind{{Group: "apps", Kind: "Deployment"}}}
	fmt.Println(applyset.FormatGroupKinds(recorded.Merge(planned).Kinds))
	// Output: Deployment.apps,Secret
}
