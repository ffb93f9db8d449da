package nemo

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// TestDefaultConfiguration checks that the default is the marked configuration at any position, or else the first.
func TestDefaultConfiguration(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		configs []v1alpha1.NemoConfig
		want    string
	}{
		"none":             {},
		"not marked":       {configs: []v1alpha1.NemoConfig{{Name: "a"}, {Name: "b"}}, want: "a"},
		"the first":        {configs: []v1alpha1.NemoConfig{{Name: "a", Default: true}, {Name: "b"}}, want: "a"},
		"a later one":      {configs: []v1alpha1.NemoConfig{{Name: "a"}, {Name: "b", Default: true}}, want: "b"},
		"the first of two": {configs: []v1alpha1.NemoConfig{{Name: "a"}, {Name: "b", Default: true}, {Name: "c", Default: true}}, want: "b"},
	} {
		n := &v1alpha1.NemoGuardrails{}
		n.Spec.NemoConfigs = c.configs
		if got := configID(n); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestHash checks that the pods are replaced exactly when the name or content of a configuration file changes.
func TestHash(t *testing.T) {
	t.Parallel()
	hashOf := func(file, text string, labels map[string]string) string {
		obs := Observation{owner: &v1alpha1.NemoGuardrails{}}
		obs.owner.Spec.NemoConfigs = []v1alpha1.NemoConfig{{Name: "a", ConfigMaps: []string{"files"}}}
		f := obs.fetched.files["files"]
		f.Value = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Data: map[string]string{file: text, "other": "x"}}
		obs.fetched.files = map[string]reconcile.FetchResult[*corev1.ConfigMap]{"files": f}
		return obs.hash()
	}
	before := hashOf("config.yaml", "rails: {}", nil)
	for name, c := range map[string]struct {
		file, text string
		labels     map[string]string
		changes    bool
	}{
		"the same":     {file: "config.yaml", text: "rails: {}"},
		"a label":      {file: "config.yaml", text: "rails: {}", labels: map[string]string{"a": "b"}},
		"another text": {file: "config.yaml", text: "rails: []", changes: true},
		"another name": {file: "config.yml", text: "rails: {}", changes: true},
	} {
		if got := hashOf(c.file, c.text, c.labels); (got != before) != c.changes {
			t.Errorf("%s: got %s, before %s", name, got, before)
		}
	}
}
