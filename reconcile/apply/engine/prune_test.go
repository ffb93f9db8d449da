package engine_test

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

func configMaps(n int) func() apply.Plan {
	return planOf(func() []client.Object {
		var out []client.Object
		for i := range n {
			out = append(out, configMap(fmt.Sprintf("cm-%d", i), "x"))
		}
		return out
	})
}

// names lists the configmaps that carry the part-of label.
func (w *world) names() []string {
	GinkgoHelper()
	var list corev1.ConfigMapList
	Expect(w.admin.List(w.ctx, &list, client.InNamespace(w.namespace), client.HasLabels{applyset.PartOfLabel})).To(Succeed())
	var out []string
	for _, o := range list.Items {
		out = append(out, o.Name)
	}
	return out
}

func (w *world) stored() *widget.Widget {
	GinkgoHelper()
	o := &widget.Widget{}
	Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), o)).To(Succeed())
	return o
}

// touchSpec changes the owner's generation.
func (w *world) touchSpec() {
	GinkgoHelper()
	o := w.stored()
	o.Spec.Count++
	Expect(w.admin.Update(w.ctx, o)).To(Succeed())
}

// denyDeletes makes the API server refuse deletes of service accounts in the
// namespace, until the returned function is called.
func (w *world) denyDeletes() (allow func()) {
	GinkgoHelper()
	name := "keep-" + w.namespace
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": w.namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Delete},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"serviceaccounts"}},
				}}},
			},
			Validations: []admissionv1.Validation{{Expression: "false", Message: "kept"}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	Expect(w.admin.Create(w.ctx, policy)).To(Succeed())
	Expect(w.admin.Create(w.ctx, binding)).To(Succeed())
	probe := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "denied", Namespace: w.namespace}}
	Eventually(func() error { return w.admin.Delete(w.ctx, probe, client.DryRunAll) }).
		WithPolling(100 * time.Millisecond).Should(MatchError(ContainSubstring("kept")))
	return func() {
		Expect(w.admin.Delete(w.ctx, binding)).To(Succeed())
		Expect(w.admin.Delete(w.ctx, policy)).To(Succeed())
	}
}

var _ = Describe("Inventory and prune", func() {
	It("is written before the first child, in one patch, and again only for a new kind", func() {
		w := newWorld()
		_, sent := w.pass(configMaps(2)())
		Expect(sent[0]).To(HaveSuffix("/widgets/owner"))
		Expect(sent).To(HaveLen(3))
		o := w.stored()
		Expect(o.Labels).To(HaveKeyWithValue(applyset.IDLabel, applyset.ID(
			widget.GroupVersion.WithKind("Widget").GroupKind(), client.ObjectKeyFromObject(o))))
		Expect(o.Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap"))
		Expect(o.Finalizers).To(BeEmpty())
		_, sent = w.pass(configMaps(3)())
		Expect(sent).To(HaveLen(1))
		plan := func() apply.Plan {
			s := configMaps(3)()
			s.Apply(&corev1.ServiceAccount{ObjectMeta: meta("sa")})
			return s
		}
		_, sent = w.pass(plan())
		Expect(sent).To(HaveLen(2))
		Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap,ServiceAccount"))
	})

	It("deletes what is no longer planned, across kinds, and shrinks after the fact", func() {
		w := newWorld()
		w.converge(planOf(func() []client.Object {
			return []client.Object{configMap("a", "1"), configMap("b", "1"), &corev1.ServiceAccount{ObjectMeta: meta("sa")}}
		}))
		rest := planOf(func() []client.Object { return []client.Object{configMap("a", "1")} })
		result, _ := w.pass(rest())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.PruneBlocked).ToNot(HaveOccurred())
		Expect(w.names()).To(ConsistOf("a"))
		w.converge(rest)
		w.quiet(3, rest)
		Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap"))
	})

	It("finds what is no longer planned after a restart", func() {
		w := newWorld()
		w.converge(configMaps(3))
		w.restart()
		result, _ := w.pass(configMaps(2)())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(w.names()).To(ConsistOf("cm-0", "cm-1"))
		w.converge(configMaps(2))
	})

	It("prunes a child that the cache has not shown yet", func() {
		w := newWorld()
		w.converge(configMaps(1))
		w.pass(configMaps(2)())
		w.pass(configMaps(1)())
		Expect(w.names()).To(ConsistOf("cm-0"))
	})

	It("prunes nothing when the plan may be incomplete", func() {
		w := newWorld()
		w.converge(configMaps(2))
		s := configMaps(1)()
		s.PruneBlocked = errors.New("list: timeout")
		result, sent := w.pass(s)
		Expect(sent).To(BeEmpty())
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(result.PruneBlocked).To(MatchError(ContainSubstring("timeout")))
		Expect(w.names()).To(HaveLen(2))
		w.pass(configMaps(1)())
		Expect(w.names()).To(HaveLen(1))
	})

	It("blocks an unexplained prune of most children, also after a restart", func() {
		w := newWorld()
		w.converge(configMaps(5))
		for range 2 {
			result, sent := w.pass(configMaps(1)())
			Expect(writes(sent)).To(BeEmpty())
			Expect(result.PruneBlocked).To(HaveOccurred())
			Expect(result.PruneBlocked.Reason).To(Equal(apply.ReasonTooMany))
			Expect(result.PruneBlocked.Objects).To(HaveLen(4))
			Expect(w.names()).To(HaveLen(5))
			w.restart()
		}
		By("the token on the owner")
		result, _ := w.pass(configMaps(1)())
		o := w.stored()
		o.Annotations[result.PruneBlocked.Annotation] = result.PruneBlocked.Token
		Expect(w.admin.Update(w.ctx, o)).To(Succeed())
		result, _ = w.pass(configMaps(1)())
		Expect(result.PruneBlocked).ToNot(HaveOccurred())
		Expect(w.names()).To(ConsistOf("cm-0"))
	})

	It("prunes nothing when a list that the plan is made from comes back empty by mistake", func() {
		w := newWorld()
		w.converge(configMaps(4))
		for range 2 {
			result, sent := w.pass(configMaps(0)())
			Expect(writes(sent)).To(BeEmpty())
			Expect(result.PruneBlocked).To(HaveOccurred())
			Expect(result.PruneBlocked.Reason).To(Equal(apply.ReasonTooMany))
			Expect(w.names()).To(HaveLen(4))
			Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap"))
			w.restart()
		}
		By("the list is back")
		w.converge(configMaps(4))
		Expect(w.names()).To(HaveLen(4))
	})

	DescribeTable("does not block a prune that is explained", func(explain func(w *world, s *apply.Plan)) {
		w := newWorld()
		w.converge(configMaps(5))
		s := configMaps(1)()
		explain(w, &s)
		result, _ := w.pass(s)
		Expect(result.PruneBlocked).ToNot(HaveOccurred())
		Expect(w.names()).To(ConsistOf("cm-0"))
	},
		Entry("by the spec", func(w *world, _ *apply.Plan) { w.touchSpec() }),
		Entry("by the inputs", func(_ *world, s *apply.Plan) { s.Inputs = "changed" }),
	)

	It("keeps what a policy refuses to delete in the inventory and says so", func() {
		w := newWorld()
		w.converge(planOf(func() []client.Object {
			return []client.Object{configMap("a", "1"), &corev1.ServiceAccount{ObjectMeta: meta("denied")}}
		}))
		allow := w.denyDeletes()
		rest := planOf(func() []client.Object { return []client.Object{configMap("a", "1")} })
		result, sent := w.pass(rest())
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(result.PruneBlocked.Reason).To(Equal(apply.ReasonPruneFailed))
		Expect(result.PruneBlocked.Error()).To(ContainSubstring("keep-" + w.namespace))
		Expect(result.Err()).To(HaveOccurred())
		Expect(writes(sent)).To(HaveLen(1))
		Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap,ServiceAccount"))
		By("not again at once")
		result, sent = w.pass(rest())
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(writes(sent)).To(BeEmpty())
		By("when it is allowed")
		allow()
		Eventually(func() error {
			o := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "denied", Namespace: w.namespace}}
			return w.admin.Delete(w.ctx, o, client.DryRunAll)
		}).Should(Succeed())
		w.clock.Step(time.Minute)
		w.converge(rest)
		Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap"))
	})

	It("finishes an explained prune of most children after a failure and a restart", func() {
		w := newWorld()
		w.converge(configMaps(8))
		w.touchSpec()
		deletes := 0
		w.requests.fail = func(_ int, r *http.Request) error {
			if r.Method != http.MethodDelete {
				return nil
			}
			if deletes++; deletes > 1 {
				return errors.New("no connection")
			}
			return nil
		}
		result := w.passWithStatus(configMaps(1)())
		Expect(result.PruneBlocked).To(HaveOccurred())
		o := w.stored()
		o.Status.ObservedGeneration = o.Generation // as a pipeline stores it, whatever failed
		Expect(w.admin.Status().Update(w.ctx, o)).To(Succeed())
		w.restart()
		w.converge(configMaps(1))
		Expect(w.names()).To(ConsistOf("cm-0"))
		Expect(w.stored().Annotations).NotTo(HaveKey("reconcilekit.dev/allow-prune"))
	})

	It("never deletes an object that has taken the place of one of its own", func() {
		w := newWorld()
		w.converge(configMaps(2))
		w.requests.fail = func(_ int, r *http.Request) error {
			if r.Method == http.MethodDelete {
				w.requests.fail = nil
				o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm-1", Namespace: w.namespace}}
				Expect(w.admin.Delete(w.ctx, o)).To(Succeed())
				Expect(w.admin.Create(w.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm-1", Namespace: w.namespace}})).To(Succeed())
			}
			return nil
		}
		result, _ := w.pass(configMaps(1)())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "cm-1"}, &corev1.ConfigMap{})).To(Succeed())
		w.converge(configMaps(1))
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "cm-1"}, &corev1.ConfigMap{})).To(Succeed())
	})
})
