package engine_test

import (
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// contestCase is a field that another manager applies with another value.
type contestCase struct {
	object func(version string) client.Object
	// path is the field in a rule and in reports.
	path, reported string
	theirs         string
	value          func(o client.Object) string
	ours           string
}

func contestCases() map[string]contestCase {
	annotated := func(o client.Object, version string) client.Object {
		o.SetAnnotations(merged(o.GetAnnotations(), map[string]string{"version": version}))
		return o
	}
	return map[string]contestCase{
		"an annotation whose key has dots and a slash": {
			object: func(version string) client.Object {
				o := configMap("contested", version)
				o.Annotations = map[string]string{"example.com/class": "ours"}
				return annotated(o, version)
			},
			path: `metadata.annotations["example.com/class"]`, reported: ".metadata.annotations.example.com/class", ours: "ours",
			theirs: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"contested","annotations":{"example.com/class":"theirs"}}}`,
			value:  func(o client.Object) string { return o.GetAnnotations()["example.com/class"] },
		},
		"a label whose key is the prefix of another key": {
			object: func(version string) client.Object {
				o := configMap("contested", version)
				o.Labels = map[string]string{"example.com": "short", "example.com/tier": "ours"}
				return annotated(o, version)
			},
			path: `metadata.labels["example.com/tier"]`, reported: ".metadata.labels.example.com/tier", ours: "ours",
			theirs: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"contested","labels":{"example.com/tier":"theirs"}}}`,
			value:  func(o client.Object) string { return o.GetLabels()["example.com/tier"] },
		},
		"a key of data with a dot": {
			object: func(version string) client.Object {
				o := configMap("contested", version)
				o.Data["app.properties"] = "ours"
				return annotated(o, version)
			},
			path: `data["app.properties"]`, reported: ".data.app.properties", ours: "ours",
			theirs: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"contested"},"data":{"app.properties":"theirs"}}`,
			value:  func(o client.Object) string { return o.(*corev1.ConfigMap).Data["app.properties"] },
		},
		"a field of a list item with two keys": {
			object: func(version string) client.Object {
				return annotated(&corev1.Service{ObjectMeta: meta("contested"), Spec: corev1.ServiceSpec{
					Ports: []corev1.ServicePort{{Name: "ours", Port: 80}},
				}}, version)
			},
			path: "spec.ports[port=80].name", reported: `.spec.ports[port=80,protocol="TCP"].name`, ours: "ours",
			theirs: `{"apiVersion":"v1","kind":"Service","metadata":{"name":"contested"},"spec":{"ports":[{"port":80,"protocol":"TCP","name":"theirs"}]}}`,
			value:  func(o client.Object) string { return o.(*corev1.Service).Spec.Ports[0].Name },
		},
	}
}

var _ = Describe("A contested field", func() {
	for name, c := range contestCases() {
		stored := func(w *world) client.Object {
			GinkgoHelper()
			o := c.object("")
			Expect(w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "contested"}, o)).To(Succeed())
			return o
		}
		plan := func(version string, opts ...apply.ChildOption) func() apply.Plan {
			return one(func() client.Object { return c.object(version) }, opts...)
		}

		It("is left to its manager while the other fields are applied: "+name, func() {
			w := newWorld()
			w.converge(plan("1"))
			w.applyAs(c.object(""), "rival", c.theirs)
			for _, version := range []string{"1", "2", "3"} {
				result, _ := w.pass(plan(version)())
				var contested *apply.ContestedError
				Expect(errors.As(result.Err(), &contested)).To(BeTrue(), "%v", result.Err())
				Expect(contested.Fields).To(ConsistOf(apply.ContestedField{Path: c.reported, Manager: "rival"}))
				Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeContested))
				Expect(stored(w).GetAnnotations()).To(HaveKeyWithValue("version", version))
				Expect(c.value(stored(w))).NotTo(Equal(c.ours))
				w.syncedObject(c.object(""))
				for range 3 {
					result, sent := w.pass(plan(version)())
					Expect(sent).To(BeEmpty())
					Expect(errors.As(result.Err(), &contested)).To(BeTrue())
				}
			}
			By("repairing drift of the other fields")
			w.edit(c.object(""), types.MergePatchType, `{"metadata":{"annotations":{"version":"drifted"}}}`, "kubectl-edit")
			_, _ = w.pass(plan("3")())
			Expect(stored(w).GetAnnotations()).To(HaveKeyWithValue("version", "3"))
			By("releasing the field by the other manager")
			w.applyAs(c.object(""), "rival", fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":"contested"}}`, kindOf(c.object(""))))
			w.converge(plan("3"))
			Expect(c.value(stored(w))).To(Equal(c.ours))
		})

		It("is taken if the plan forces it, and not taken repeatedly: "+name, func() {
			w := newWorld()
			forced := plan("1", apply.Force(c.path))
			w.converge(forced)
			w.applyAs(c.object(""), "rival", c.theirs)
			result, _ := w.pass(forced())
			Expect(result.Err()).NotTo(HaveOccurred())
			Expect(c.value(stored(w))).To(Equal(c.ours))
			By("taking it back repeatedly by the other manager")
			var contested *apply.ContestedError
			for range 10 {
				w.applyAs(c.object(""), "rival", c.theirs)
				w.clock.Step(time.Second)
				result, _ := w.pass(forced())
				if errors.As(result.Err(), &contested) {
					break
				}
			}
			Expect(contested).To(HaveOccurred())
			Expect(contested.Fields).To(HaveLen(1))
			Expect(contested.Fields[0].Manager).To(Equal("rival"))
			By("applying the other fields")
			_, _ = w.pass(plan("2", apply.Force(c.path))())
			Expect(stored(w).GetAnnotations()).To(HaveKeyWithValue("version", "2"))
		})
	}

	It("does not block the repair of another field of the same child", func() {
		w := newWorld()
		plan := one(func() client.Object {
			o := configMap("fought", "ours")
			o.Data["other"] = "ours"
			return o
		})
		w.converge(plan)
		for range 8 {
			w.edit(configMap("fought", ""), types.MergePatchType, `{"data":{"value":"theirs"}}`, "insistent")
			_, _ = w.pass(plan())
			w.syncedObject(configMap("fought", ""))
		}
		w.edit(configMap("fought", ""), types.MergePatchType, `{"data":{"other":"theirs"}}`, "kubectl-edit")
		result, _ := w.pass(plan())
		var contested *apply.ContestedError
		Expect(errors.As(result.Err(), &contested)).To(BeTrue())
		Expect(contested.Fields).To(ConsistOf(apply.ContestedField{Path: ".data.value", Manager: "insistent"}))
		o := configMap("fought", "")
		Expect(w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "fought"}, o)).To(Succeed())
		Expect(o.Data).To(Equal(map[string]string{"value": "theirs", "other": "ours"}))
	})
})

func kindOf(o client.Object) string {
	GinkgoHelper()
	gvks, _, err := scheme.ObjectKinds(o)
	Expect(err).NotTo(HaveOccurred())
	return gvks[0].Kind
}
