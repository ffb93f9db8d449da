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

// TestValues: each value arrives in what the chart renders, and one that the chart does not have is an error.
func TestValues(t *testing.T) {
	t.Parallel()
	const folder = "../../examples/quickstart/chart"
	for name, c := range map[string]struct {
		values map[string]any
		want   string
	}{
		"args":                {map[string]any{"args": []any{"--namespaces=a: b"}}, `- "--namespaces=a: b"`},
		"logLevel":            {map[string]any{"logLevel": "debug"}, `- "--zap-log-level=debug"`},
		"resources":           {map[string]any{"resources": map[string]any{"limits": map[string]any{"memory": "3Gi"}}}, "memory: 3Gi"},
		"imagePullSecrets":    {map[string]any{"imagePullSecrets": []any{map[string]any{"name": "pull"}}}, "imagePullSecrets:\n        - name: pull"},
		"priorityClassName":   {map[string]any{"priorityClassName": "system-cluster-critical"}, `priorityClassName: "system-cluster-critical"`},
		"nodeSelector":        {map[string]any{"nodeSelector": map[string]any{"disk": "ssd"}}, "nodeSelector:\n        disk: ssd"},
		"tolerations":         {map[string]any{"tolerations": []any{map[string]any{"key": "spot"}}}, "tolerations:\n        - key: spot"},
		"affinity":            {map[string]any{"affinity": map[string]any{"nodeAffinity": map[string]any{}}}, "affinity:\n        nodeAffinity: {}"},
		"podLabels":           {map[string]any{"podLabels": map[string]any{"team": "ml"}}, "team: ml"},
		"podAnnotations":      {map[string]any{"podAnnotations": map[string]any{"mesh": "off"}}, `mesh: "off"`},
		"serviceAccount":      {map[string]any{"serviceAccount": map[string]any{"annotations": map[string]any{"role": "r"}}}, "annotations:\n    role: r"},
		"unknown value":       {map[string]any{"replica": 3}, ""},
		"unknown value below": {map[string]any{"serviceAccount": map[string]any{"name": "x"}}, ""},
		"wrong type":          {map[string]any{"replicas": "three"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded, err := loader.Load(folder)
			if err != nil {
				t.Fatal(err)
			}
			values, err := commonutil.ToRenderValues(loaded, c.values,
				common.ReleaseOptions{Name: "release", Namespace: "elsewhere", IsInstall: true}, common.DefaultCapabilities)
			if c.want == "" {
				if err == nil {
					t.Error("the values are accepted")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := engine.Render(loaded, values); err != nil {
				t.Fatal(err)
			}
			if _, text := render(t, folder, c.values); !strings.Contains(text, c.want) {
				t.Errorf("no %q in:\n%s", c.want, text)
			}
		})
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
		if strings.HasSuffix(name, "/NOTES.txt") {
			continue
		}
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
