package groups_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/groups"
)

// A member learns from its group what became of its part.
func ExampleGroup_Effect() {
	member := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1", Generation: 1}}
	group := groups.Of("teams")
	none, _ := group.Effect(member)
	group.Status.Members = append(group.Status.Members, groups.MemberOf(member, nil))
	applied, _ := group.Effect(member)
	member.Generation++
	pending, _ := group.Effect(member)
	fmt.Println(none, applied, pending)
	// Output:
	// None Applied Pending
}
