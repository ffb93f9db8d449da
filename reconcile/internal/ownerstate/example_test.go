package ownerstate_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/ownerstate"
)

// A write of the engine makes the cache stale until it shows the write.
func Example() {
	owners, now := &ownerstate.Owners{}, time.Unix(0, 0)
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "1", ResourceVersion: "7"}}
	owners.Seen(owner)
	written := owner.DeepCopy()
	written.ResourceVersion = "8"
	owners.Wrote(written, now)
	fmt.Println(owners.Stale(owner, now, time.Minute), owners.Stale(written, now, time.Minute))
	// Output:
	// true false
}
