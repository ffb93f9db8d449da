package engine_test

import (
	"errors"
	"maps"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

// panicking is a type whose method panics for some values.
type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("no value") }

// content is an unstructured ConfigMap "made" with more content.
func content(more map[string]any) client.Object {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "made"},
	}}
	maps.Copy(u.Object, more)
	return u
}

// badPlan is a mistake in a plan that contains "a" and no longer "b".
type badPlan struct {
	add func(p *apply.Plan)
	// keeps reports whether the plan may refer to "b".
	keeps bool
}

func badPlans() map[string]badPlan {
	until := func(o client.Object) func(*apply.Plan) {
		return func(p *apply.Plan) {
			p.Deletes = append(p.Deletes, apply.Deletion{Object: o, WaitsUntil: "it is drained"})
		}
	}
	list := content(map[string]any{"kind": "ConfigMapList", "items": []any{}})
	return map[string]badPlan{
		"nothing is planned":             {func(p *apply.Plan) { p.Apply(nil) }, true},
		"a nil object is planned":        {func(p *apply.Plan) { p.Apply((*corev1.ConfigMap)(nil)) }, true},
		"a nil unstructured is planned":  {func(p *apply.Plan) { p.Apply((*unstructured.Unstructured)(nil)) }, true},
		"nothing is kept":                {func(p *apply.Plan) { p.Keep(nil) }, true},
		"a nil object is kept":           {func(p *apply.Plan) { p.Keep((*corev1.ConfigMap)(nil)) }, true},
		"a nil unstructured is kept":     {func(p *apply.Plan) { p.Keep((*unstructured.Unstructured)(nil)) }, true},
		"a kept object has no name":      {func(p *apply.Plan) { p.Keep(&corev1.ConfigMap{}) }, true},
		"a kept object is planned, too":  {func(p *apply.Plan) { p.Keep(content(map[string]any{"metadata": map[string]any{"name": "a"}, "n": 1})) }, true},
		"nothing is deleted":             {func(p *apply.Plan) { p.Delete(nil) }, false},
		"a nil object is deleted":        {func(p *apply.Plan) { p.Delete((*corev1.ConfigMap)(nil)) }, false},
		"a deleted object has no name":   {func(p *apply.Plan) { p.Delete(&corev1.ConfigMap{}) }, false},
		"nothing is deleted later":       {until(nil), true},
		"a nil object is deleted later":  {until((*corev1.ConfigMap)(nil)), true},
		"a list is planned":              {func(p *apply.Plan) { p.Apply(list) }, true},
		"no kind":                        {func(p *apply.Plan) { p.Apply(&unstructured.Unstructured{}) }, true},
		"an invalid version":             {func(p *apply.Plan) { p.Apply(content(map[string]any{"apiVersion": "a/b/c"})) }, true},
		"a child of another owner twice": {func(p *apply.Plan) { p.Apply(configMap("a", "2")) }, true},
		"a method that panics":           {func(p *apply.Plan) { p.Apply(content(map[string]any{"data": panicking{}})) }, false},
		"a value that is not JSON":       {func(p *apply.Plan) { p.Apply(content(map[string]any{"data": make(chan int)})) }, false},
		"a null in a list": {func(p *apply.Plan) {
			p.Apply(content(map[string]any{"metadata": map[string]any{"name": "made", "finalizers": []any{"a/b", nil}}}))
		}, false},
		"labels that are a list": {func(p *apply.Plan) {
			p.Apply(content(map[string]any{"metadata": map[string]any{"name": "made", "labels": []any{"x"}}}))
		}, false},
		"owner references that are text": {func(p *apply.Plan) {
			p.Apply(content(map[string]any{"metadata": map[string]any{"name": "made", "ownerReferences": "x"}}))
		}, false},
		"an invalid path": {func(p *apply.Plan) { p.Apply(configMap("made", "1"), apply.Seed("..[")) }, false},
	}
}

// programError reports whether the category of an error is ProgramError.
func programError(err error) bool {
	var categorised interface{ HealthCategory() string }
	return errors.As(err, &categorised) && categorised.HealthCategory() == "ProgramError"
}

var _ = Describe("An invalid plan", func() {
	for name, bad := range badPlans() {
		It("is reported as a program error, and nothing is deleted because of it: "+name, func() {
			w := newWorld()
			w.converge(named("a", "b"))
			w.touchSpec()
			p := named("a")()
			bad.add(&p)
			result, _ := w.pass(p)
			Expect(programError(result.Err())).To(BeTrue(), "%v", result.Err())
			_, sent := w.pass(p)
			Expect(sent).To(BeEmpty())
			if bad.keeps {
				Expect(w.names()).To(ConsistOf("a", "b"))
			}
			_, err := w.engine.Diff(w.ctx, w.stored(), p, engine.DiffOptions{ServerDryRun: true})
			Expect(err).NotTo(HaveOccurred())
		})
	}

	for _, name := range []string{"x/y", "..", "a%2fb", "Upper", strings.Repeat("x", 300)} {
		It("with an invalid name does not block other children: "+name[:min(len(name), 10)], func() {
			w := newWorld()
			p := named("a", name)()
			p.Apply(&widget.Widget{ObjectMeta: meta("w")})
			result, _ := w.pass(p)
			Expect(result.Err()).To(HaveOccurred())
			Expect(w.names()).To(ConsistOf("a"))
			Expect(w.exists(&widget.Widget{ObjectMeta: meta("w")})).To(BeTrue())
		})
	}
})
