package reconciletest_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// planner plans the objects that its function returns.
type planner func() []client.Object

func (planner) FetchRemoteState(context.Context, reconcile.Reader, reconcile.ReconcileContext[*widget.Widget]) struct{} {
	return struct{}{}
}

func (p planner) PlanResources(context.Context, reconcile.ReconcileContext[*widget.Widget], struct{}) (plan reconcile.PlanResult, _ error) {
	for _, child := range p() {
		plan.Apply(child)
	}
	return plan, nil
}

// TestProgramErrors checks that Converge reports the program error of an operator that does nothing in any run.
func TestProgramErrors(t *testing.T) {
	t.Parallel()
	named := func() client.Object { return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "text"}} }
	for name, c := range map[string]struct {
		plan planner
		owns bool
		want string
	}{
		"correct":            {func() []client.Object { return []client.Object{named()} }, true, ""},
		"kind not declared":  {func() []client.Object { return []client.Object{named()} }, false, "add Owns(&v1.ConfigMap{})"},
		"child without name": {func() []client.Object { return []client.Object{&corev1.ConfigMap{}} }, true, "name"},
		"nil child":          {func() []client.Object { return []client.Object{(*corev1.ConfigMap)(nil)} }, true, "nil"},
		"planned twice":      {func() []client.Object { return []client.Object{named(), named()} }, true, "twice"},
		"panic":              {func() []client.Object { panic("no such index") }, true, "no such index"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := reconciletest.Explore(t.Context(), reconciletest.System{
				Setup: func(mgr manager.Manager) error {
					b := controller.New("planner", c.plan)
					if c.owns {
						b.Owns(&corev1.ConfigMap{})
					}
					return b.Build().SetupWithManager(mgr)
				},
				Scheme: widgetScheme(),
				CRDs:   []*apiextensionsv1.CustomResourceDefinition{widget.CRD()},
				Owners: []client.Object{&widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "web"}}},
				Cases:  1,
			})
			var text strings.Builder
			if found != nil {
				for _, f := range found.Findings {
					text.WriteString(f.String() + "\n")
				}
			}
			if err != nil {
				text.WriteString(err.Error())
			}
			if got := text.String(); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("want %q in the findings, got:\n%s", c.want, got)
			}
		})
	}
}
