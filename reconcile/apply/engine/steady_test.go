package engine_test

import (
	"fmt"
	"maps"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: meta(name), Data: map[string]string{"value": value}}
}

func deployment(name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: meta(name), Spec: appsv1.DeploymentSpec{
		Selector: selector(), Template: podTemplate(), Replicas: new(int32(2)),
	}}
}

// edit changes a stored object as another manager.
func (w *world) edit(o client.Object, patchType types.PatchType, patch, by string) {
	GinkgoHelper()
	o.SetNamespace(w.namespace)
	Expect(w.admin.Patch(w.ctx, o, client.RawPatch(patchType, []byte(patch)), client.FieldOwner(by))).To(Succeed())
	w.syncedObject(o)
}

var _ = Describe("Steady state", func() {
	It("sends nothing in 200 reconciliations of 50 children", func() {
		w := newWorld()
		plan := func() apply.Plan {
			var s apply.Plan
			for i := range 50 {
				s.Apply(configMap(fmt.Sprintf("cm-%02d", i), "x"))
			}
			return s
		}
		result, sent := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(sent).To(HaveLen(51))
		w.quiet(200, plan)
		w.synced(plan)
		w.quiet(5, plan)
	})

	It("sends nothing while the statuses of children change", func() {
		w := newWorld()
		plan := func() apply.Plan {
			var s apply.Plan
			s.Apply(deployment("churn"))
			return s
		}
		w.converge(plan)
		d := deployment("churn")
		for i := range 100 {
			d.Namespace = w.namespace
			Expect(w.admin.Status().Patch(w.ctx, d, client.RawPatch(types.MergePatchType,
				[]byte(`{"status":{"observedGeneration":`+strconv.Itoa(i)+`}}`)))).To(Succeed())
			w.quiet(1, plan)
		}
		w.syncedObject(d)
		w.quiet(2, plan)
	})

	DescribeTable("repairs drift with one PATCH", func(patchType types.PatchType, patch string) {
		w := newWorld()
		plan := func() apply.Plan {
			var s apply.Plan
			s.Apply(deployment("drift"))
			return s
		}
		w.converge(plan)
		w.edit(deployment("drift"), patchType, patch, "kubectl-edit")
		result, sent := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(sent).To(HaveLen(1))
		Expect(sent[0]).To(HavePrefix("PATCH "))
		w.quiet(2, plan)
		w.synced(plan)
		w.quiet(2, plan)
		stored := deployment("drift")
		stored.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(*stored.Spec.Replicas).To(Equal(int32(2)))
		Expect(stored.Labels).To(HaveKeyWithValue("app", "drift"))
	},
		Entry("of a number", types.MergePatchType, `{"spec":{"replicas":5}}`),
		Entry("of a label that is removed", types.MergePatchType, `{"metadata":{"labels":{"app":null}}}`),
		Entry("of an item in a list with keys", types.StrategicMergePatchType,
			`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"other:2"}]}}}}`),
		Entry("of a list that is removed", types.JSONPatchType, `[{"op":"remove","path":"/spec/template/spec/tolerations"}]`),
		Entry("of the owner reference", types.MergePatchType, `{"metadata":{"ownerReferences":null}}`),
	)

	DescribeTable("does not change fields of other managers", func(patchType types.PatchType, patch string) {
		w := newWorld()
		plan := func() apply.Plan {
			var s apply.Plan
			s.Apply(deployment("foreign"))
			return s
		}
		w.converge(plan)
		w.edit(deployment("foreign"), patchType, patch, "kubectl-edit")
		w.quiet(2, plan)
		w.restart()
		w.quiet(2, plan)
	},
		Entry("annotations", types.MergePatchType, `{"metadata":{"annotations":{"theirs":"1"}}}`),
		Entry("another container", types.StrategicMergePatchType,
			`{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"s:1"}]}}}}`),
		Entry("a field that is not planned", types.MergePatchType, `{"spec":{"minReadySeconds":7}}`),
	)

	It("restores removed managedFields with one PATCH", func() {
		w := newWorld()
		plan := planOf(func() []client.Object { return []client.Object{deployment("wiped"), configMap("wiped", "1")} })
		w.converge(plan)
		w.edit(deployment("wiped"), types.MergePatchType, `{"metadata":{"managedFields":[{}]}}`, "x")
		_, sent := w.pass(plan())
		Expect(writes(sent)).To(HaveLen(1)) // and one read, because the cache may strip managedFields
		w.quiet(2, plan)
		w.synced(plan)
		w.quiet(2, plan)
		w.restart()
		w.quiet(1, plan)
	})

	It("recreates a deleted child with one PATCH, also before the cache is updated", func() {
		w := newWorld()
		plan := planOf(func() []client.Object { return []client.Object{configMap("gone", "1")} })
		w.converge(plan)
		stored := configMap("gone", "")
		stored.Namespace = w.namespace
		Expect(w.admin.Delete(w.ctx, stored)).To(Succeed())
		Eventually(func() error {
			return w.client.Get(w.ctx, client.ObjectKeyFromObject(stored), &corev1.ConfigMap{})
		}).ShouldNot(Succeed())
		result, sent := w.pass(plan())
		Expect(sent).To(HaveLen(1))
		Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeCreated))
		w.quiet(2, plan)
	})

	It("applies a changed intent once, and removes fields that left the plan", func() {
		w := newWorld()
		value := map[string]string{"a": "1", "b": "2"}
		plan := func() apply.Plan {
			var s apply.Plan
			data := map[string]string{}
			maps.Copy(data, value)
			s.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm"}, Data: data})
			return s
		}
		w.converge(plan)
		delete(value, "b")
		result, sent := w.pass(plan())
		Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeUpdated))
		Expect(sent).To(HaveLen(1))
		w.quiet(2, plan)
		stored := &corev1.ConfigMap{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "cm"}, stored)).To(Succeed())
		Expect(stored.Data).To(Equal(map[string]string{"a": "1"}))
	})
})
