package engine_test

import (
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

var _ = Describe("A child that is only created", func() {
	const partOf = "applyset.kubernetes.io/part-of"
	for mode, plan := range map[string]func() apply.Plan{
		"create-only": func() (plan apply.Plan) { plan.Apply(configMap("once", "2"), apply.Once); return plan },
		"kept":        func() (plan apply.Plan) { plan.Keep(configMap("once", "2")); return plan },
	} {
		for cached, transform := range map[string]func(any) (any, error){"whole": nil, "without managedFields": stripped} {
			It("gets an owner reference with the current version, without a change of its content: "+mode+", in a cache "+cached, func() {
				w := newWorld(func(w *world) { w.transform = transform })
				w.converge(func() (plan apply.Plan) { plan.Apply(configMap("once", "1"), apply.Once); return plan })
				stored := func() *corev1.ConfigMap {
					GinkgoHelper()
					cm := &corev1.ConfigMap{}
					Expect(w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "once"}, cm)).To(Succeed())
					return cm
				}
				before := stored()
				By("creating it with an earlier version of the operator, and changing it with other managers")
				w.edit(configMap("once", ""), types.JSONPatchType, `[
					{"op":"replace","path":"/metadata/ownerReferences/0/apiVersion","value":"test.reconcilekit.dev/v0"},
					{"op":"add","path":"/metadata/ownerReferences/-","value":{"apiVersion":"v1","kind":"ConfigMap","name":"other","uid":"other"}},
					{"op":"replace","path":"/data","value":{"value":"theirs"}}]`, "somebody")
				w.restart()
				diff, err := w.engine.Diff(w.ctx, w.owner, plan(), engine.DiffOptions{})
				Expect(err).NotTo(HaveOccurred())
				Expect(diff.String()).To(ContainSubstring("apiVersion"))
				result, sent := w.pass(plan())
				Expect(result.Err()).NotTo(HaveOccurred())
				Expect(writes(sent)).To(HaveLen(1))
				Expect(result.Objects[0].Outcome).To(Equal(apply.OutcomeUpdated))
				after := stored()
				Expect(after.OwnerReferences).To(HaveLen(2))
				Expect(after.OwnerReferences[0]).To(Equal(before.OwnerReferences[0]))
				Expect(after.Data).To(Equal(map[string]string{"value": "theirs"}))
				w.syncedObject(configMap("once", ""))
				w.quiet(3, plan)
				w.restart()
				w.quiet(3, plan)
			})
		}
	}

	It("gets the part-of label again, and is not written repeatedly", func() {
		w := newWorld()
		plan := func() (plan apply.Plan) { plan.Apply(configMap("once", "1"), apply.Once); return plan }
		w.converge(plan)
		labelled := func() bool {
			GinkgoHelper()
			cm := configMap("once", "")
			Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "once"}, cm)).To(Succeed())
			return cm.Labels[partOf] != ""
		}
		restored := 0
		for range 10 {
			w.edit(configMap("once", ""), types.MergePatchType, `{"metadata":{"labels":{"`+partOf+`":null}}}`, "somebody")
			w.syncedObject(configMap("once", ""))
			result, _ := w.pass(plan())
			w.syncedObject(configMap("once", ""))
			if labelled() {
				restored++
				Expect(result.Err()).NotTo(HaveOccurred())
				continue
			}
			var contested *apply.ContestedError
			Expect(errors.As(result.Err(), &contested)).To(BeTrue())
			Expect(contested.Fields).To(ConsistOf(apply.ContestedField{Path: ".metadata.labels." + partOf, Manager: "unknown"}))
		}
		Expect(restored).To(Equal(5))
	})

	It("gets no label if another client created it", func() {
		w := newWorld()
		Expect(w.admin.Create(w.ctx, configMapIn(w.namespace, "once"))).To(Succeed())
		plan := func() (plan apply.Plan) { plan.Apply(configMap("once", "1"), apply.Once); return plan }
		w.syncedObject(configMap("once", ""))
		result, _ := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		cm := configMap("once", "")
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "once"}, cm)).To(Succeed())
		Expect(cm.Labels).NotTo(HaveKey(partOf))
		Expect(cm.OwnerReferences).To(BeEmpty())
	})
})
