package chart_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

// TestCharts renders each chart with its own values and with everything switched on: every document is an object in the namespace of
// the release, and the values arrive.
func TestCharts(t *testing.T) {
	t.Parallel()
	charts, err := filepath.Glob("../../examples/*/chart")
	if err != nil || len(charts) == 0 {
		t.Fatalf("there are no charts: %v", err)
	}
	for _, folder := range charts {
		for name, values := range map[string]map[string]any{
			"defaults":   {},
			"everything": {"serviceMonitor": true, "replicas": 3, "image": "registry.example.com/operator:v7"},
		} {
			t.Run(filepath.Base(filepath.Dir(folder))+" "+name, func(t *testing.T) {
				t.Parallel()
				kinds, text := render(t, folder, values)
				for _, kind := range []string{"Deployment", "ServiceAccount", "CustomResourceDefinition", "NetworkPolicy", "ClusterRole"} {
					if kinds[kind] == 0 {
						t.Errorf("the chart has no %s", kind)
					}
				}
				monitors := 0
				if values["serviceMonitor"] != nil {
					monitors = 1
					for _, want := range []string{"replicas: 3", "image: registry.example.com/operator:v7"} {
						if !strings.Contains(text, want) {
							t.Errorf("no %q in what is rendered", want)
						}
					}
				}
				if kinds["ServiceMonitor"] != monitors {
					t.Errorf("%d ServiceMonitors, want %d", kinds["ServiceMonitor"], monitors)
				}
			})
		}
	}
}

// conversion is what a CRD in a chart has besides, where the operator converts its versions.
var conversion = regexp.MustCompile(`(?s)\n  conversion:\n    strategy: Webhook\n.*?path: /convert\n`)

// TestCRDs: a CRD in a chart is the one in config/crd, but that it stays when the release goes, and is converted.
func TestCRDs(t *testing.T) {
	t.Parallel()
	for _, product := range []string{"modelregistry", "trustyai"} {
		if _, text := render(t, filepath.Join("../../examples", product, "chart"), nil); !conversion.MatchString(text) {
			t.Errorf("no CRD of %s is converted", product)
		}
	}
	files, err := filepath.Glob("../../examples/*/chart/templates/crd/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("the charts have no CRDs: %v", err)
	}
	for _, file := range files {
		folder := strings.TrimSuffix(filepath.Dir(file), "/chart/templates/crd")
		want, err := os.ReadFile(filepath.Join(folder, "config/crd", filepath.Base(file)))
		if err != nil {
			t.Fatal(err)
		}
		_, text := render(t, filepath.Join(folder, "chart"), nil)
		kept := conversion.ReplaceAllString(strings.ReplaceAll(text, "    helm.sh/resource-policy: keep\n", ""), "\n")
		if !strings.Contains(kept, strings.TrimSpace(strings.TrimPrefix(string(want), "---\n"))) {
			t.Errorf("%s renders something other than config/crd", file)
		}
	}
}

// render returns how many objects of each kind the chart renders to, and everything as text.
func render(t *testing.T, folder string, given map[string]any) (map[string]int, string) {
	t.Helper()
	loaded, err := loader.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := loaded.Validate(); err != nil {
		t.Fatal(err)
	}
	values, err := commonutil.ToRenderValues(loaded, given,
		common.ReleaseOptions{Name: "release", Namespace: "elsewhere", IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := engine.Render(loaded, values)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	var all strings.Builder
	for name, text := range rendered {
		all.WriteString(text)
		for document := range strings.SplitSeq(text, "\n---\n") {
			var object struct {
				APIVersion, Kind string
				Metadata         struct{ Name, Namespace string }
			}
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, document)
			}
			if object.Kind == "" {
				continue
			}
			kinds[object.Kind]++
			if object.Metadata.Name == "" || object.APIVersion == "" {
				t.Errorf("%s: a %s without a name or a version", name, object.Kind)
			}
			if object.Metadata.Namespace != "" && object.Metadata.Namespace != "elsewhere" {
				t.Errorf("%s: %s %s is in the namespace %s, want that of the release", name, object.Kind, object.Metadata.Name, object.Metadata.Namespace)
			}
		}
	}
	return kinds, all.String()
}
