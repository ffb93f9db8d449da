package engine_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// mutated installs a policy that sets the key "a" of each ConfigMap of the namespace to another value, and waits until it takes
// effect. The returned function removes the policy and waits until it has no effect.
func (w *world) mutated() (end func()) {
	GinkgoHelper()
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: admissionregistrationv1.IfNeededReinvocationPolicy,
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				}}},
			},
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType:          admissionregistrationv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: `Object{data: {"a": "overridden"}}`},
			}},
			FailurePolicy: ptr.To(admissionregistrationv1.Fail),
		},
	}
	binding := &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec:       admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: policy.Name},
	}
	Expect(w.admin.Create(w.ctx, policy)).To(Succeed())
	Expect(w.admin.Create(w.ctx, binding)).To(Succeed())
	DeferCleanup(func() {
		Expect(client.IgnoreNotFound(w.admin.Delete(w.ctx, binding))).To(Succeed())
		Expect(client.IgnoreNotFound(w.admin.Delete(w.ctx, policy))).To(Succeed())
	})
	probe := func() (string, error) {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: w.namespace}, Data: map[string]string{"a": "given"}}
		err := w.admin.Create(w.ctx, o, client.DryRunAll)
		return o.Data["a"], err
	}
	Eventually(probe).Should(Equal("overridden"))
	return func() {
		GinkgoHelper()
		Expect(w.admin.Delete(w.ctx, binding)).To(Succeed())
		Eventually(probe).Should(Equal("given"))
	}
}

var _ = Describe("A planned value that admission overrides", func() {
	It("causes no writes until the contest interval, and is stored after the policy is removed", func() {
		w := newWorld()
		end := w.mutated()
		plan := planOf(func() []client.Object {
			return []client.Object{&corev1.ConfigMap{ObjectMeta: meta("settings"), Data: map[string]string{"a": "ours", "b": "ours"}}}
		})
		w.converge(plan)
		w.quiet(5, plan)
		result, _ := w.pass(plan())
		Expect(result.Objects[0].Overridden).To(Equal([]apply.FieldChange{{Path: ".data.a", From: `"overridden"`, To: `"ours"`}}))
		Expect(result.RequeueAfter).To(Equal(5 * time.Minute))
		const patch = "PATCH /api/v1/namespaces/"
		for range 2 {
			w.clock.Step(5 * time.Minute)
			result, sent := w.pass(plan())
			Expect(result.Err()).NotTo(HaveOccurred())
			Expect(sent).To(ConsistOf(patch + w.namespace + "/configmaps/settings"))
			w.quiet(2, plan)
		}

		end()
		w.clock.Step(time.Minute)
		w.quiet(2, plan)
		w.clock.Step(5 * time.Minute)
		w.converge(plan)
		result, _ = w.pass(plan())
		Expect(result.Objects[0].Overridden).To(BeEmpty())
		Expect(result.RequeueAfter).To(BeZero())
		stored := &corev1.ConfigMap{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "settings"}, stored)).To(Succeed())
		Expect(stored.Data).To(Equal(map[string]string{"a": "ours", "b": "ours"}))
		w.clock.Step(time.Hour)
		w.quiet(2, plan)
	})

	It("is not reported for defaults and normalised values", func() {
		w := newWorld()
		plan := func() (plan apply.Plan) {
			for _, o := range everydayKinds() {
				plan.Apply(o)
			}
			return plan
		}
		w.converge(plan)
		w.clock.Step(time.Hour)
		w.quiet(3, plan)
	})
})
