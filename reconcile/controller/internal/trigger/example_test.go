package trigger_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
)

func ExampleTriggers() {
	var triggers trigger.Triggers
	owner := types.NamespacedName{Namespace: "shop", Name: "web"}
	kind := corev1.SchemeGroupVersion.WithKind("Secret")
	for _, name := range []string{"key", "password"} {
		after := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		triggers.Note(owner, kind, trigger.Change{Event: trigger.EventCreate, After: after})
	}
	first, known := triggers.Take(owner)
	fmt.Println(known, first.Event, first.Object, first.More)
	_, known = triggers.Take(owner)
	fmt.Println(known)
	// Output:
	// true create shop/key 1
	// false
}
