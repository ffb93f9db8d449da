package engine_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// numbered plans ConfigMaps with numbered names.
func numbered(format string, n int) func() apply.Plan {
	return planOf(func() []client.Object {
		var out []client.Object
		for i := range n {
			out = append(out, configMap(fmt.Sprintf(format, i), "x"))
		}
		return out
	})
}

var _ = Describe("The mass-prune guard after a change of the plan", func() {
	It("blocks a prune of all children if other children replace them", func() {
		w := newWorld()
		w.converge(numbered("old-%d", 8))
		for range 3 {
			w.held(numbered("new-%d", 8)(), apply.ReasonTooMany)
		}
		Expect(w.names()).To(HaveLen(16))
	})

	It("blocks the prune of a StatefulSet with claims and of a Secret that is created once", func() {
		w := newWorld()
		w.converge(func() apply.Plan {
			p := configMaps(6)()
			p.Apply(database("1Gi"))
			p.Apply(&corev1.Secret{ObjectMeta: meta("once"), StringData: map[string]string{"password": "x"}}, apply.Once)
			return p
		})
		Expect(w.held(configMaps(6)(), apply.ReasonHoldsData).Objects).To(HaveLen(2))
		w.restart()
		Expect(w.held(configMaps(6)(), apply.ReasonHoldsData).Objects).To(HaveLen(2))
	})

	It("blocks the prune of children that another process created after the plan was made", func() {
		w := newWorld()
		w.converge(configMaps(3))
		old, oldClient := w.engine, w.client
		defer func() { w.engine, w.client = old, oldClient }()
		time.Sleep(time.Second) // creation times have a precision of seconds
		w.start()
		w.converge(configMaps(4))
		w.engine, w.client = old, oldClient
		w.syncedObject(configMap("cm-3", ""))
		w.touchSpec()
		w.clock.Step(20 * time.Minute) // triggers the next listing
		Expect(w.held(configMaps(3)(), apply.ReasonNewer).Objects).To(HaveLen(1))
		Expect(w.names()).To(HaveLen(4))
	})

	It("blocks the prune of an object that a child still refers to", func() {
		w := newWorld()
		account := func() client.Object { return &corev1.ServiceAccount{ObjectMeta: meta("account")} }
		with := func(name string) client.Object {
			o := deployment("web")
			o.Spec.Template.Spec.ServiceAccountName = name
			return o
		}
		w.converge(planOf(func() []client.Object { return []client.Object{account(), with("account")} }))
		w.contestAccount("web", "account")
		w.held(planOf(func() []client.Object { return []client.Object{with("other")} })(), apply.ReasonReferenced)
		stored := account()
		stored.SetNamespace(w.namespace)
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		By("removing the reference")
		w.contestAccount("web", "other")
		w.clock.Step(10 * time.Minute)
		Eventually(func(g Gomega) {
			w.pass(planOf(func() []client.Object { return []client.Object{with("other")} })())
			g.Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored))).To(BeTrue())
		}).Should(Succeed())
	})

	It("allows the prune of a child that opts in after it left the plan", func() {
		w := newWorld(func(w *world) { w.options.OptOutAnnotation = "test/managed" })
		w.converge(configMaps(4))
		w.edit(configMap("cm-3", ""), types.MergePatchType, `{"metadata":{"annotations":{"test/managed":"false"}}}`, "x")
		w.syncedObject(configMap("cm-3", ""))
		w.converge(configMaps(3))
		w.quiet(3, configMaps(3))
		Expect(w.names()).To(HaveLen(4))
		w.edit(configMap("cm-3", ""), types.MergePatchType, `{"metadata":{"annotations":{"test/managed":null}}}`, "x")
		w.syncedObject(configMap("cm-3", ""))
		w.pass(configMaps(3)())
		Expect(w.names()).To(ConsistOf("cm-0", "cm-1", "cm-2"))
	})
})

// contestAccount applies the service account of a Deployment with another manager.
func (w *world) contestAccount(name, account string) {
	GinkgoHelper()
	o := deployment(name)
	o.Namespace = w.namespace
	body := fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%q},"spec":{"template":{"spec":{"serviceAccountName":%[2]q,"serviceAccount":%[2]q}}}}`, name, account)
	Expect(w.admin.Patch(w.ctx, o, client.RawPatch(types.ApplyPatchType, []byte(body)), client.FieldOwner("rival"), client.ForceOwnership)).To(Succeed())
	w.syncedObject(o)
}
