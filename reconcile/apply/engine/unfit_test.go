package engine_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// The API server responds with an internal error to an apply that it cannot decode as the kind.
var _ = Describe("A plan that does not fit the schema of its kind", func() {
	settings := func(field string, value any) func() apply.Plan {
		return func() (plan apply.Plan) {
			plan.Apply(&unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings"}, field: value,
			}})
			plan.Apply(configMap("sibling", "1"))
			return plan
		}
	}
	for words, plan := range map[string]func() apply.Plan{
		".dta: field not declared in schema": settings("dta", map[string]any{"a": "1"}),
		".data: expected map":                settings("data", []any{"1"}),
		"parsing time": func() (plan apply.Plan) {
			plan.Apply(configMap("sibling", "1"))
			plan.Apply(&unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"name": "turn"},
				"spec": map[string]any{"renewTime": "yesterday"},
			}})
			return plan
		},
	} {
		It(fmt.Sprintf("is a program error and not sent again immediately: %s", words), func() {
			w := newWorld()
			result, _ := w.pass(plan())
			found := health.Categorize(result.Err())
			Expect(found.Category).To(Equal(health.ProgramError), result.Err().Error())
			Expect(found.Reason).To(Equal("InvalidPlan"))
			Expect(found.Message).To(And(ContainSubstring(words), ContainSubstring("does not fit the schema")))
			Expect(w.exists(configMap("sibling", "1"))).To(BeTrue())
			for range 3 {
				result, sent := w.pass(plan())
				Expect(result.Err()).To(HaveOccurred())
				Expect(sent).To(BeEmpty())
			}
			w.clock.Step(time.Minute)
			_, sent := w.pass(plan())
			Expect(sent).To(HaveLen(1))
			w.converge(settings("data", map[string]any{"a": "1"}))
		})
	}

	It("is an invalid spec if a map list has two items with the same key", func() {
		w := newWorld()
		variables := func(names ...string) func() apply.Plan {
			return planOf(func() []client.Object {
				d := deployment("deploy")
				for _, name := range names {
					d.Spec.Template.Spec.Containers[0].Env = append(d.Spec.Template.Spec.Containers[0].Env, corev1.EnvVar{Name: name, Value: "1"})
				}
				return []client.Object{d}
			})
		}
		for _, names := range [][]string{{"Y", "Y"}, {"Y", "Z", "Y", "Z"}} {
			plan := variables(names...)
			result, _ := w.pass(plan())
			found := health.Categorize(result.Err())
			Expect(found.Category).To(Equal(health.InvalidSpec), result.Err().Error())
			Expect(found.Reason).To(Equal("DuplicateKeys"))
			Expect(found.Message).To(And(ContainSubstring(`[name="Y"]`), ContainSubstring("remove one of them")))
			_, sent := w.pass(plan())
			Expect(sent).To(BeEmpty())
			w.converge(variables("Y", "Z"))
		}
	})
})
