package tracking_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
)

func ExampleTracker() {
	secrets := tracking.NewIndex(func(client.Object, string) ([]string, bool) { return nil, false })
	tracker := tracking.NewTracker()
	pass := tracker.Begin(types.NamespacedName{Namespace: "shop", Name: "web"}, tracking.ScopeRead)
	pass.List(secrets, "shop", labels.SelectorFromSet(labels.Set{"app": "web"}), nil)
	pass.End()
	changed := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "key", Labels: map[string]string{"app": "web"}}}
	fmt.Println(tracker.Concerned(secrets, changed))
	// Output:
	// [shop/web]
}
