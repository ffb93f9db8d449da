package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

var _ = Describe("A rule for the metadata of a child", func() {
	places := []string{"metadata", "metadata.labels", "metadata.ownerReferences", "metadata.annotations"}
	for policy, rule := range map[string]func(...string) apply.FieldRules{"Ignore": apply.Ignore, "Seed": apply.Seed, "Force": apply.Force} {
		for _, path := range places {
			It("does not apply to the labels and references of a child: "+policy+" "+path, func() {
				w := newWorld()
				plan := one(func() client.Object { return &corev1.ConfigMap{ObjectMeta: meta("cm")} }, rule(path))
				w.converge(plan)
				for _, change := range []string{
					`{"metadata":{"labels":{"` + applyset.PartOfLabel + `":"other"}}}`, `{"metadata":{"ownerReferences":null}}`,
				} {
					w.edit(configMap("cm", ""), types.MergePatchType, change, "user")
					w.converge(plan)
					stored := &corev1.ConfigMap{}
					Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "cm"}, stored)).To(Succeed())
					Expect(metav1.GetControllerOf(stored)).NotTo(BeNil())
					Expect(stored.Labels).To(HaveKeyWithValue(applyset.PartOfLabel, HavePrefix("applyset-")))
				}
				w.restart()
				w.converge(plan)
				w.touchSpec()
				w.converge(func() apply.Plan { return apply.Plan{} })
				Expect(w.exists(configMap("cm", ""))).To(BeFalse())
			})
		}
	}

	for _, path := range places {
		It("that makes it create-only is rejected: "+path, func() {
			w := newWorld()
			plan := one(cm("1"), apply.CreateOnly(path))
			result, sent := w.pass(plan())
			Expect(programError(result.Err())).To(BeTrue(), "%v", result.Err())
			Expect(result.Err()).To(MatchError(ContainSubstring("field " + path + " cannot be sent only once")))
			Expect(writes(sent)).To(HaveLen(1), "the inventory alone: %v", sent)
		})
	}

	It("that makes a single label create-only is valid", func() {
		w := newWorld()
		tier := func(value string) func() apply.Plan {
			return one(func() client.Object {
				o := configMap("cm", "1")
				o.Labels = map[string]string{"tier": value}
				return o
			}, apply.CreateOnly("metadata.labels.tier"))
		}
		w.converge(tier("gold"))
		w.converge(tier("lead"))
		stored := &corev1.ConfigMap{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "cm"}, stored)).To(Succeed())
		Expect(stored.Labels).To(HaveKeyWithValue("tier", "gold"))
	})
	It("can make the labels create-only in an object that is created once or shared", func() {
		w := newWorld()
		plan := func(value string) func() apply.Plan {
			return func() apply.Plan {
				o := configMap("cm", value)
				o.Labels = map[string]string{"tier": value}
				var p apply.Plan
				p.Apply(o, apply.Retained, apply.CreateOnly("metadata.labels"))
				return p
			}
		}
		w.converge(plan("gold"))
		w.converge(plan("lead"))
		stored := &corev1.ConfigMap{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "cm"}, stored)).To(Succeed())
		Expect(stored.Labels).To(HaveKeyWithValue("tier", "gold"))
		Expect(stored.Data).To(HaveKeyWithValue("value", "lead"))
	})
})
