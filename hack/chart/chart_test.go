package chart_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

// charts returns the folders of the charts.
func charts(t *testing.T) []string {
	t.Helper()
	folders, err := filepath.Glob("../../examples/*/chart")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no charts found: %v", err)
	}
	return folders
}

// TestCharts renders each chart with default values and with all values changed: every document must be an object in the
// namespace of the release, and the chart must have each value of the test's list.
func TestCharts(t *testing.T) {
	t.Parallel()
	for _, folder := range charts(t) {
		for name, values := range map[string]map[string]any{"defaults": {}, "everything": everything()} {
			t.Run(filepath.Base(filepath.Dir(folder))+" "+name, func(t *testing.T) {
				t.Parallel()
				kinds, text := render(t, folder, values)
				for _, kind := range []string{"Deployment", "ServiceAccount", "CustomResourceDefinition", "NetworkPolicy", "ClusterRole"} {
					if kinds[kind] == 0 {
						t.Errorf("the chart has no %s", kind)
					}
				}
				switched := 0
				if len(values) > 0 {
					switched = 1
					for _, want := range []string{"replicas: 3", "image: registry.example.com:5000/team/operator@sha256:0123", "name: mine\n"} {
						if !strings.Contains(text, want) {
							t.Errorf("no %q in the rendered chart", want)
						}
					}
				}
				for _, kind := range []string{"ServiceMonitor", "PrometheusRule"} {
					if kinds[kind] != switched {
						t.Errorf("%d objects of the kind %s, want %d", kinds[kind], kind, switched)
					}
				}
				if strings.Contains(text, "bearerTokenFile") {
					t.Error("the ServiceMonitor reads a file of Prometheus")
				}
			})
		}
	}
}

// TestLint checks that helm lint accepts each chart, and that testdata/everything.yaml has each value.
func TestLint(t *testing.T) {
	t.Parallel()
	for _, folder := range charts(t) {
		for _, message := range lint.RunAll(folder, everything(), "elsewhere").Messages {
			if message.Severity > support.InfoSev {
				t.Errorf("%s: %v", folder, message)
			}
		}
		loaded, err := loader.Load(folder)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(keys("", everything()), keys("", loaded.Values)); diff != "" {
			t.Errorf("%s: values (-testdata/everything.yaml +values.yaml):\n%s", folder, diff)
		}
	}
}

// keys returns the paths of the values of a chart, down to maps that users fill in.
func keys(path string, values map[string]any) (found []string) {
	for name, value := range values {
		below, nested := value.(map[string]any)
		switch {
		case path+name == "namespaces": // tested with releases that set it
		case nested && slices.Contains([]string{"image", "serviceAccount", "networkPolicy", "serviceMonitor", "prometheusRule", "dashboard"}, name):
			found = append(found, keys(name+".", below)...)
		default:
			found = append(found, path+name)
		}
	}
	slices.Sort(found)
	return found
}

type set = map[string]any

// TestValues checks that each value affects the rendered chart, and that an unknown value or one of a wrong type is an
// error.
func TestValues(t *testing.T) {
	t.Parallel()
	const quickstart, trustyai = "../../examples/quickstart/chart", "../../examples/trustyai/chart"
	digest := "sha256:" + strings.Repeat("0f", 32)
	for name, c := range map[string]struct {
		values set
		want   string // empty: the values are rejected
		not    string
	}{
		"defaults":          {set{}, "name: release-quickstart\n", "kind: ServiceMonitor"},
		"lease":             {set{}, "- --leader-election-id=release-quickstart\n", "--namespaces"},
		"permitted lease":   {set{}, "resourceNames:\n  - 'release-quickstart'\n  - 'release-quickstart-shard-0'\n  resources:\n  - leases\n", "quickstart.example.com-shard"},
		"lease of the name": {set{"fullnameOverride": "quickstart"}, "resourceNames:\n  - 'quickstart.example.com'\n  - 'quickstart.example.com-shard-0'\n", ""},
		"tag":               {set{"image": set{"tag": "v7"}}, "image: quickstart:v7\n", ""},
		"no tag":            {set{"image": set{"tag": ""}}, "image: quickstart:0.1.0\n", ""},
		"digest":            {set{"image": set{"digest": digest}}, "image: quickstart@" + digest + "\n", "quickstart:latest"},
		"pull policy":       {set{"image": set{"pullPolicy": "Always"}}, "imagePullPolicy: Always\n", "IfNotPresent"},
		"fullnameOverride":  {set{"fullnameOverride": "quickstart"}, "name: quickstart\n", "--leader-election-id"},
		"crds":              {set{"crds": false}, "kind: Deployment", "kind: CustomResourceDefinition"},
		"namespaces":        {set{"namespaces": []any{"a", "b"}}, "- --namespaces=a,b\n", "kind: ClusterRoleBinding\nmetadata:\n  name: 'release-quickstart'\n"},
		"bound namespaces":  {set{"namespaces": []any{"a", "b"}}, "kind: RoleBinding\nmetadata:\n  name: 'release-quickstart'\n  namespace: 'b'\n", ""},
		"args":              {set{"args": []any{"--say=a: b"}}, `- "--say=a: b"`, ""},
		"env":               {set{"env": []any{set{"name": "PROXY", "value": "x"}}}, "- name: PROXY\n              value: x\n", ""},
		"logLevel":          {set{"logLevel": "debug"}, `- "--zap-log-level=debug"`, ""},
		"number":            {set{"logLevel": 5}, `- "--zap-log-level=5"`, ""},
		"resources":         {set{"resources": set{"limits": set{"memory": "3Gi"}}}, "memory: 3Gi", ""},
		"imagePullSecrets":  {set{"imagePullSecrets": []any{set{"name": "pull"}}}, "imagePullSecrets:\n        - name: pull", ""},
		"priorityClassName": {set{"priorityClassName": "system-cluster-critical"}, `priorityClassName: "system-cluster-critical"`, ""},
		"nodeSelector":      {set{"nodeSelector": set{"disk": "ssd"}}, "nodeSelector:\n        disk: ssd", ""},
		"tolerations":       {set{"tolerations": []any{set{"key": "spot"}}}, "tolerations:\n        - key: spot", ""},
		"affinity":          {set{"affinity": set{"nodeAffinity": set{}}}, "affinity:\n        nodeAffinity: {}", ""},
		"spread":            {set{"topologySpreadConstraints": []any{set{"topologyKey": "zone"}}}, "topologySpreadConstraints:\n        - topologyKey: zone\n", "kubernetes.io/hostname"},
		"runAsUser":         {set{"runAsUser": 1234567}, "runAsUser: 1234567\n", ""},
		"user of the image": {set{"runAsUser": nil}, "runAsNonRoot: true\n", "runAsUser"},
		"labels":            {set{"labels": set{"owner": "x"}}, "    app.kubernetes.io/name: release-quickstart\n    owner: x\nspec:\n  replicas", ""},
		"annotations":       {set{"annotations": set{"note": "x"}}, "  annotations:\n    note: x\nspec:\n  replicas", ""},
		"podLabels":         {set{"podLabels": set{"team": "ml"}}, "        team: ml\n      annotations:", ""},
		"podAnnotations":    {set{"podAnnotations": set{"mesh": "off"}}, `mesh: "off"`, ""},
		"serviceAccount":    {set{"serviceAccount": set{"annotations": set{"role": "r"}}}, "annotations:\n    role: r", ""},
		"networkPolicy":     {set{"networkPolicy": set{"enabled": false}}, "kind: Deployment", "kind: NetworkPolicy"},
		"egress": {
			set{"networkPolicy": set{"egress": []any{set{"ports": []any{set{"port": 2379}}}}}},
			"        - {port: 6443, protocol: TCP}\n    - ports:\n      - port: 2379\n", "",
		},
		"no egress":                    {set{"networkPolicy": set{"egress": []any{}}}, "    - Egress\n", ""},
		"any egress":                   {set{}, "    - Ingress\n", "Egress"},
		"serviceMonitor":               {set{"serviceMonitor": set{"enabled": true}}, "name: release-quickstart-scraper\n          key: token", ""},
		"labels of the ServiceMonitor": {set{"serviceMonitor": set{"enabled": true, "labels": set{"release": "p"}}}, "    release: p\n", ""},
		"prometheusRule":               {set{"prometheusRule": set{"enabled": true}}, `absent(up{job="release-quickstart-metrics",namespace="elsewhere"} == 1)`, ""},
		"label of an alert":            {set{"prometheusRule": set{"enabled": true}}, "has the lease {{ $labels.name }}", ""},
		"dashboard":                    {set{"dashboard": set{"enabled": true}}, `grafana_dashboard: "1"`, ""},
		"legend":                       {set{"dashboard": set{"enabled": true}}, `"legendFormat":"{{controller}}"`, ""},
		"as a dependency":              {set{"enabled": true, "global": set{"zone": "a"}}, "kind: Deployment", ""},
		"unknown value":                {set{"replica": 3}, "", ""},
		"unknown nested value":         {set{"serviceAccount": set{"name": "x"}}, "", ""},
		"unknown in image":             {set{"image": set{"name": "x"}}, "", ""},
		"former image":                 {set{"image": "x:v1"}, "", ""},
		"wrong type":                   {set{"replicas": "three"}, "", ""},
		"wrong digest":                 {set{"image": set{"digest": "0f"}}, "", ""},
		"wrong policy":                 {set{"image": set{"pullPolicy": "Sometimes"}}, "", ""},
		"long name":                    {set{"fullnameOverride": strings.Repeat("a", 55)}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded, err := loader.Load(quickstart)
			if err != nil {
				t.Fatal(err)
			}
			_, err = commonutil.ToRenderValues(loaded, c.values,
				common.ReleaseOptions{Name: "release", Namespace: "elsewhere", IsInstall: true}, common.DefaultCapabilities)
			if (err != nil) != (c.want == "") {
				t.Fatalf("the values: %v", err)
			}
			if err != nil {
				return
			}
			_, text := render(t, quickstart, c.values)
			if !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("want %q, and not %q, in:\n%s", c.want, c.not, text)
			}
		})
	}
	_, text := render(t, trustyai, set{"crds": false})
	if !strings.Contains(text, "- --webhook-port=0\n") || strings.Contains(text, "-webhooks") {
		t.Errorf("webhooks without CRDs:\n%s", text)
	}
}

// TestOpenShift checks that the chart leaves the user of the Pods to OpenShift.
func TestOpenShift(t *testing.T) {
	t.Parallel()
	capabilities := common.DefaultCapabilities.Copy()
	capabilities.APIVersions = append(capabilities.APIVersions, "security.openshift.io/v1")
	loaded, err := loader.Load("../../examples/quickstart/chart")
	if err != nil {
		t.Fatal(err)
	}
	values, err := commonutil.ToRenderValues(loaded, nil, common.ReleaseOptions{Name: "release", Namespace: "elsewhere"}, capabilities)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(loaded, values)
	if err != nil {
		t.Fatal(err)
	}
	if text := files["quickstart/templates/manager/deployment.yaml"]; strings.Contains(text, "runAsUser") || !strings.Contains(text, "runAsNonRoot") {
		t.Errorf("got:\n%s", text)
	}
}

// conversion matches the section that a CRD in a chart has in addition if the operator converts its versions.
var conversion = regexp.MustCompile(`(?s)\n  conversion:\n    strategy: Webhook\n.*?path: /convert\n`)

// TestCRDs checks that a CRD in a chart equals the one in config/crd, except that it remains after an uninstallation and
// has a conversion webhook.
func TestCRDs(t *testing.T) {
	t.Parallel()
	for _, product := range []string{"grafana", "modelregistry", "trustyai"} {
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

// render returns the number of rendered objects of each kind, and the rendered text.
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
			within, _ := given["namespaces"].([]any)
			bound := object.Kind == "RoleBinding" && slices.Contains(within, any(object.Metadata.Namespace))
			if object.Metadata.Namespace != "" && object.Metadata.Namespace != "elsewhere" && !bound {
				t.Errorf("%s: %s %s is in the namespace %s, want that of the release", name, object.Kind, object.Metadata.Name, object.Metadata.Namespace)
			}
		}
	}
	return kinds, all.String()
}
