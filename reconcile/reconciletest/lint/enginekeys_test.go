package lint_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
)

func TestEngineKeys(t *testing.T) {
	t.Parallel()
	labelled := func(labels map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: labels}}
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	deployment.Spec.Template.Annotations = map[string]string{"reconcilekit.dev/generation": "1", "a": "b"}
	for name, test := range map[string]struct {
		domain  string
		applies []client.Object
		keeps   []client.Object
		want    string
	}{
		"an empty plan":        {},
		"no key of the engine": {applies: []client.Object{labelled(map[string]string{"app": "web"})}},
		"a kept child":         {keeps: []client.Object{labelled(map[string]string{"applyset.kubernetes.io/part-of": "x"})}},
		"a label": {
			applies: []client.Object{labelled(map[string]string{"applyset.kubernetes.io/id": "x"})},
			want:    "child 0, *v1.ConfigMap web: metadata.labels has the engine's key applyset.kubernetes.io/id: do not copy it",
		},
		"a Pod template": {
			applies: []client.Object{labelled(nil), deployment},
			want:    "child 1, *v1.Deployment web: spec.template.metadata.annotations has the engine's key reconcilekit.dev/generation: do not copy it",
		},
		"the operator's domain": {
			domain:  "example.com",
			applies: []client.Object{labelled(map[string]string{"example.com/generation": "1", "example.com/team": "red"})},
			want:    "child 0, *v1.ConfigMap web: metadata.labels has the engine's key example.com/generation: do not copy it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var plan reconcile.PlanResult
			for _, o := range test.applies {
				plan.Apply(o)
			}
			for _, o := range test.keeps {
				plan.Keep(o)
			}
			got := ""
			if err := lint.EngineKeys(test.domain, plan); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
