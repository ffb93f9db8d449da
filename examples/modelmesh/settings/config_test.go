package settings_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// TestCases runs the cases of the product.
func TestCases(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name   string
		Given  []corev1.ConfigMap
		Expect struct {
			Config map[string]any
			Error  string
		}
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, test := range cases {
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			config, err := settings.FromConfigMap(&test.Given[0])
			if test.Expect.Error != "" {
				if err == nil || !strings.Contains(err.Error(), test.Expect.Error) {
					t.Errorf("got %v, want %s", err, test.Expect.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(config)
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			contains(t, "config", test.Expect.Config, got)
		})
	}
}

// contains compares a subset recursively; "$exact" compares the entire mapping.
func contains(t *testing.T, path string, want, got any) {
	t.Helper()
	mapping, ok := want.(map[string]any)
	if !ok {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", path, diff)
		}
		return
	}
	if exact, ok := mapping["$exact"]; ok {
		contains(t, path, []any{exact}, []any{got})
		return
	}
	fields, _ := got.(map[string]any)
	for name, inner := range mapping {
		contains(t, path+"."+name, inner, fields[name])
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		document string
		err      string
	}{
		"too many pods":                 {"podsPerRuntime: 70000", "'PodsPerRuntime': 70000 is no uint16; want a number from 0 to 65535"},
		"half a pod":                    {"podsPerRuntime: 1.5", "'PodsPerRuntime': 1.5 is no uint16"},
		"a list for the number of pods": {"podsPerRuntime: [1]", "'PodsPerRuntime': [1] is no uint16"},
		"a processor in two":            {"payloadProcessors: [\"a b\"]", "Error parsing payload processor 'a b': endpoint must not contain spaces."},
		"one processor":                 {"payloadProcessors: a", ""},
		"a missing quantity": {
			"restProxy: {resources: {limits: {cpu: \"\"}}}",
			"Invalid config for 'RESTProxy.Resources': Cannot parse 'Limits.CPU' as a quantity",
		},
		"a text for a section": {"metrics: x", "'Metrics': want a mapping, got x"},
		"nested name":          {"metrics: {port: -1}", "'Metrics.Port': -1"},
		"a switch as a string": {"scaleToZero: {enabled: \"false\"}", ""},
		"an invalid switch":    {"scaleToZero: {enabled: maybe}", "'ScaleToZero.Enabled': maybe is no bool"},
		"a mapping":            {"runtimePodLabels: {a: {b: c}}", "'RuntimePodLabels.a'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := settings.Parse([]byte(test.document))
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %v, want %q", err, test.err)
			}
		})
	}
}

func TestImageReference(t *testing.T) {
	t.Parallel()
	for want, image := range map[string]settings.Image{
		"a": {Name: "a"}, "a:1": {Name: "a", Tag: "1"}, "a@sha256:1": {Name: "a", Tag: "1", Digest: "sha256:1"},
	} {
		if got := image.Reference(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestEtcdSecretName checks that the environment variable takes precedence over the configuration, and both over the
// default of the product.
func TestEtcdSecretName(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ environment, config, want string }{
		{"", "", "model-serving-etcd"},
		{"", "mine", "mine"},
		{"theirs", "", "theirs"},
		{"theirs", "mine", "theirs"},
	} {
		e := settings.FromEnvironment(func(name string) string {
			return map[string]string{"ETCD_SECRET_NAME": tc.environment}[name]
		})
		if got := e.EtcdSecretName(settings.Config{EtcdSecretName: tc.config}); got != tc.want {
			t.Errorf("environment %q, configuration %q: got %q, want %q", tc.environment, tc.config, got, tc.want)
		}
	}
}
