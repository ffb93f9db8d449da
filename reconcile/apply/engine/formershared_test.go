package engine_test

import (
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("Fields that former versions wrote for several owners with one field manager", func() {
	for _, restart := range []bool{false, true} {
		It(fmt.Sprintf("pass to each owner whose plan has them, shortened cache and restart: %t", restart), func() {
			w := newWorld(func(w *world) {
				w.options.FormerManagers = []string{"former"}
				if restart {
					w.transform = apply.ShortenManagedFields(manager, "former")
				}
			})
			former := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: "shared", Namespace: w.namespace}, Data: map[string]string{"a": "a", "b": "b", "stale": "1"},
			}
			Expect(client.WithFieldOwner(w.admin, "former").Create(w.ctx, former)).To(Succeed())
			w.syncedObject(former)
			plan := func(key string) func() apply.Plan {
				return func() apply.Plan {
					var p apply.Plan
					p.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shared"}, Data: map[string]string{key: key}}, apply.Shared)
					return p
				}
			}
			keys := func() []string {
				GinkgoHelper()
				o := &corev1.ConfigMap{}
				Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(former), o)).To(Succeed())
				return slices.Sorted(maps.Keys(o.Data))
			}
			first, second := w.owner, w.newOwner("second")
			w.converge(plan("a"))
			Expect(keys()).To(Equal([]string{"a", "b", "stale"}), "nothing of another owner goes")
			if restart {
				w.restart()
			}
			w.owner = second
			w.converge(plan("b"))
			w.quiet(2, plan("b"))
			w.owner = first
			w.quiet(2, plan("a"))
			w.converge(func() apply.Plan { return apply.Plan{Policy: apply.Withdraw} })
			Expect(keys()).To(Equal([]string{"b", "stale"}), "its part was its own")
		})
	}
})
