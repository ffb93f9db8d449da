package groupkey_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// The annotation of a child leads back to its group.
func Example() {
	value := groupkey.Value("Backend", types.NamespacedName{Namespace: "shop", Name: "web"})
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{apply.GroupAnnotation: value}}}
	fmt.Println(groupkey.Values(child))
	// Output:
	// [Backend/shop/web]
}
