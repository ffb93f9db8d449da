package conditionlist_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/conditionlist"
)

// A service has conditions in its status.
func Example() {
	service := &corev1.Service{}
	var access conditionlist.Access
	access.Set(service, []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}})
	fmt.Println(service.Status.Conditions[0].Type, len(access.Get(service)))
	// Output: Ready 1
}
