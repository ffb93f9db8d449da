package install_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/install"
)

const crd = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    controller-gen.kubebuilder.io/version: v0.23.0
  name: books.example.com
spec:
  group: example.com
  description: "{{ not an expression }}"
`

func library() dataflow.Page {
	rules := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{"example.com"}, APIVersions: []string{"v1"}, Resources: []string{"books"}},
	}}
	return dataflow.Page{
		Name: "library", Conversions: []string{"books.example.com"}, CRDs: []string{"Book (example.com/v1)"}, LeaderElection: true,
		Controllers: []dataflow.Description{{Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"example.com"}, Resources: []string{"books/status"}, Verbs: []string{"patch"}},
			{APIGroups: []string{"example.com"}, Resources: []string{"books"}, Verbs: []string{"get"}},
			{APIGroups: []string{"apps"}, Resources: []string{"deployments/status"}, Verbs: []string{"patch"}},
		}}},
		Webhooks: []dataflow.Webhook{
			{Name: "vbook.example.com", Type: "validating", Path: "/validate", FailurePolicy: "Fail", Rules: rules},
			{Name: "mbook.example.com", Type: "mutating", Path: "/mutate", FailurePolicy: "Ignore", Rules: rules},
		},
	}
}

func config() install.Config {
	return install.Config{
		Env:   []corev1.EnvVar{{Name: "HOME_NAMESPACE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}}},
		Args:  []string{`--say="x: y"`},
		CRDs:  fstest.MapFS{"books.yaml": {Data: []byte(crd)}, "README.md": {}},
		Extra: fstest.MapFS{"granted.yaml": {Data: []byte("text: '{{ x }}'\n")}},
	}
}

// objects decodes a file and fails for documents that are not objects.
func objects(t *testing.T, name, text string) []*unstructured.Unstructured {
	t.Helper()
	var found []*unstructured.Unstructured
	for part := range strings.SplitSeq(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(part), &object.Object); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, part)
		}
		if len(object.Object) == 0 {
			t.Errorf("%s: a document without an object:\n%s", name, part)
			continue
		}
		if object.GetKind() == "" || object.GetAPIVersion() == "" {
			t.Errorf("%s: no kind or version in:\n%s", name, part)
		}
		found = append(found, object)
	}
	return found
}

// TestKustomization checks that every file of config/ is listed once, and that the namespace is first.
func TestKustomization(t *testing.T) {
	t.Parallel()
	kept := map[string]int{
		"Namespace": 1, "ServiceAccount": 2, "Deployment": 1, "PodDisruptionBudget": 1, "Service": 2, "NetworkPolicy": 1,
		"ClusterRole": 9, "ClusterRoleBinding": 4, "Role": 3, "RoleBinding": 2, "Secret": 1,
		"ValidatingWebhookConfiguration": 1, "MutatingWebhookConfiguration": 1, "CustomResourceDefinition": 1,
	}
	issued := maps.Clone(kept)
	issued["ClusterRole"], issued["ClusterRoleBinding"], issued["Role"], issued["RoleBinding"] = 8, 3, 2, 1
	issued["Issuer"], issued["Certificate"] = 1, 1
	delete(issued, "Secret")
	for name, c := range map[string]struct {
		issued   bool
		want     map[string]int
		argument string
	}{
		"the operator's certificate": {false, kept, "--webhook-service=library-system/library-webhooks"},
		"cert-manager's":             {true, issued, "--webhook-cert-dir=/certificates"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config()
			cfg.CertManager = c.issued
			files, err := install.Files(library(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, listed(t, files)); diff != "" {
				t.Errorf("the kinds (-want +got):\n%s", diff)
			}
			deployment := files["config/manager/deployment.yaml"]
			if !strings.Contains(deployment, "- "+c.argument+"\n") || strings.Contains(deployment, "volumes:") != c.issued {
				t.Errorf("want the argument %s in:\n%s", c.argument, deployment)
			}
			if !strings.Contains(deployment, `"fieldPath":"metadata.namespace"`) {
				t.Errorf("no variable of the environment in:\n%s", deployment)
			}
			for name, text := range files {
				if strings.Contains(text, "inject-ca-from") && !c.issued {
					t.Errorf("%s asks cert-manager for a certificate", name)
				}
			}
		})
	}
}

// listed returns the number of objects of each kind in the kustomization, and fails for missing and unlisted files.
func listed(t *testing.T, files map[string]string) map[string]int {
	t.Helper()
	var list struct {
		Resources []string
		Patches   []struct{ Patch string }
	}
	if err := yaml.Unmarshal([]byte(files["config/kustomization.yaml"]), &list); err != nil {
		t.Fatal(err)
	}
	if list.Resources[0] != "manager/namespace.yaml" {
		t.Errorf("the first resource is %s, want the namespace", list.Resources[0])
	}
	listed := map[string]int{}
	for _, name := range list.Resources {
		listed["config/"+name]++
	}
	kinds := map[string]int{}
	for _, patch := range list.Patches {
		for _, object := range objects(t, "patch", patch.Patch) {
			kinds[object.GetKind()]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasPrefix(name, "config/") || strings.HasPrefix(name, "config/monitoring/") || strings.HasSuffix(name, "kustomization.yaml") {
			continue
		}
		if listed[name] != 1 {
			t.Errorf("%s is listed %d times", name, listed[name])
		}
		for _, object := range objects(t, name, files[name]) {
			kinds[object.GetKind()]++
		}
		delete(listed, name)
	}
	if diff := cmp.Diff(map[string]int{"config/crd/books.yaml": 1, "config/extra/granted.yaml": 1}, listed); diff != "" {
		t.Errorf("listed, but not generated (-want +got):\n%s", diff)
	}
	return kinds
}

// TestServices checks that Services have the names of the page, and that all references use these names.
func TestServices(t *testing.T) {
	t.Parallel()
	for _, issued := range []bool{false, true} {
		page, cfg := library(), config()
		cfg.CertManager = issued
		page.Services = []dataflow.Service{{Name: "figures", Port: 8443, PortName: "metrics"}, {Name: "hooks", Port: 443, PortName: "webhooks"}}
		for i := range page.Webhooks {
			page.Webhooks[i].Service = "library-system/hooks"
		}
		files, err := install.Files(page, cfg)
		if err != nil {
			t.Fatal(err)
		}
		crd := "{{ $.Release.Namespace }}\n          name: hooks\n"
		for name, want := range map[string]string{
			"config/network/metrics_service.yaml":  "name: figures\n",
			"config/network/webhook_service.yaml":  "name: hooks\n",
			"config/webhook/webhooks.yaml":         "name: hooks\n",
			"config/kustomization.yaml":            "name: hooks\n",
			"chart/templates/crd/books.yaml":       crd,
			"config/rbac/webhook_certificate.yaml": `resourceNames: ["hooks"]`, // the operator keeps the certificate in a Secret of that name
			"config/manager/webhook_secret.yaml":   "name: hooks\n",
		} {
			if _, exists := files[name]; !exists && issued {
				continue
			}
			if !strings.Contains(files[name], want) {
				t.Errorf("no %q in %s:\n%s", want, name, files[name])
			}
		}
		for name, text := range files {
			for _, service := range []string{"library-metrics\n", "webhook-service=library-system/library-webhooks", "- library-webhooks."} {
				if strings.Contains(text, service) {
					t.Errorf("%s refers to %q, which is not installed", name, service)
				}
			}
		}
	}
}

// TestWithout checks that an operator without webhooks, kinds and CRDs has no manifests for them.
func TestWithout(t *testing.T) {
	t.Parallel()
	files, err := install.Files(dataflow.Page{Name: "library", Namespaces: []string{"one", "two"}}, install.Config{Namespace: "home", Image: "library:v1"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if strings.Contains(name, "webhook") || strings.Contains(name, "crd") || strings.Contains(name, "users") {
			t.Errorf("there is a file %s", name)
		}
		if strings.HasPrefix(name, "config/") && (strings.Contains(text, "webhooks") || strings.Contains(text, "library-system")) {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	deployment := objects(t, "deployment", files["config/manager/deployment.yaml"])[0]
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if err != nil {
		t.Fatal(err)
	}
	container := containers[0].(map[string]any)
	if container["image"] != "library:v1" || !slices.Contains(container["args"].([]any), any("--namespaces=one,two")) {
		t.Errorf("the container is %v", container)
	}
}

// TestEgress checks that egress is not restricted without Config.Egress, and that an empty list allows only DNS and the API server.
func TestEgress(t *testing.T) {
	t.Parallel()
	port := intstr.FromInt32(2379)
	etcd := []networkingv1.NetworkPolicyEgressRule{{Ports: []networkingv1.NetworkPolicyPort{{Port: &port}}}}
	for name, c := range map[string]struct {
		egress []networkingv1.NetworkPolicyEgressRule
		rules  int
		value  string
	}{
		"not restricted":     {nil, 0, "  egress: null\n"},
		"the API server":     {etcd[:0], 1, "  egress: []\n"},
		"an external system": {etcd, 2, "  egress:\n    - {\"ports\":[{\"port\":2379}]}\n"},
	} {
		cfg := config()
		cfg.Egress = c.egress
		files, err := install.Files(library(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		policy := objects(t, "policy", files["config/network/policy.yaml"])[0]
		rules, _, err := unstructured.NestedSlice(policy.Object, "spec", "egress")
		if err != nil || len(rules) != c.rules {
			t.Errorf("%s: %d rules, want %d: %v", name, len(rules), c.rules, err)
		}
		types, _, err := unstructured.NestedStringSlice(policy.Object, "spec", "policyTypes")
		if err != nil || slices.Contains(types, "Egress") != (c.rules > 0) {
			t.Errorf("%s: the policy is for %v: %v", name, types, err)
		}
		if text := files["chart/values.yaml"]; !strings.Contains(text, c.value) {
			t.Errorf("%s: no %q in:\n%s", name, c.value, text)
		}
	}
}

// TestImage checks that the parts of an image are chart values, and that the default tag is the version.
func TestImage(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("0f", 32)
	for image, want := range map[string][]string{
		"library:v1":             {"image: library:v1\n", "  repository: library\n", "  tag: \"v1\"\n", "  digest: \"\"\n"},
		"host:5000/a/library":    {"image: host:5000/a/library:1.2.3\n", "  repository: host:5000/a/library\n", "  tag: \"\"\n", "appVersion: \"1.2.3\"\n"},
		"a/library@" + digest:    {"image: a/library@" + digest + "\n", "  repository: a/library\n", "  tag: \"\"\n", "  digest: \"" + digest + "\"\n"},
		"a/library:v1@" + digest: {"image: a/library:v1@" + digest + "\n", "  tag: \"v1\"\n", "  digest: \"" + digest + "\"\n"},
	} {
		cfg := config()
		cfg.Image, cfg.Version = image, "1.2.3"
		files, err := install.Files(library(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		text := files["config/manager/deployment.yaml"] + files["chart/values.yaml"] + files["chart/Chart.yaml"]
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in:\n%s", image, part, text)
			}
		}
	}
}

// TestErrors checks that the error for an invalid configuration names the field.
func TestErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*dataflow.Page, *install.Config)
		want   string
	}{
		"name":      {func(p *dataflow.Page, _ *install.Config) { p.Name = "My Library" }, `name of the page "My Library"`},
		"long name": {func(p *dataflow.Page, _ *install.Config) { p.Name = strings.Repeat("a", 55) }, "want at most 54 characters"},
		"version":   {func(_ *dataflow.Page, c *install.Config) { c.Version = "v1" }, `Config.Version "v1": want a version as in SemVer`},
		"namespace": {func(_ *dataflow.Page, c *install.Config) { c.Namespace = "a.b" }, `Config.Namespace "a.b"`},
		"no rules":  {func(p *dataflow.Page, _ *install.Config) { p.Webhooks[0].Rules = nil }, `"vbook.example.com" has no rules`},
		"service":   {func(p *dataflow.Page, _ *install.Config) { p.Webhooks[0].Service = "home/hooks" }, `want "library-system/library-webhooks"`},
		"no label": {func(p *dataflow.Page, _ *install.Config) {
			p.Services = []dataflow.Service{{Name: "My Hooks", PortName: "webhooks"}}
		}, `Service "My Hooks" with the port webhooks`},
		"type":      {func(p *dataflow.Page, _ *install.Config) { p.Webhooks[0].Type = "guarding" }, "want mutating or validating"},
		"no CRDs":   {func(_ *dataflow.Page, c *install.Config) { c.CRDs = fstest.MapFS{} }, "generate the CRDs first"},
		"no CRD":    {func(_ *dataflow.Page, c *install.Config) { c.CRDs = fstest.MapFS{"a.yaml": {}} }, "a.yaml: want one CRD"},
		"no folder": {func(_ *dataflow.Page, c *install.Config) { c.CRDs = os.DirFS(filepath.Join(t.TempDir(), "none")) }, "generate the CRDs first"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page, cfg := library(), config()
			c.change(&page, &cfg)
			if _, err := install.Files(page, cfg); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestChartCRD checks that braces in a CRD are escaped, and that the conversion is configured.
func TestChartCRD(t *testing.T) {
	t.Parallel()
	cfg := config()
	cfg.CertManager = true
	files, err := install.Files(library(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if text := files["chart/templates/extra/granted.yaml"]; text != "{{- if .Values.crds }}\ntext: '{{ \"{{\" }} x }}'\n{{- end }}\n" {
		t.Errorf("extra content of the chart: %s", text)
	}
	text := files["chart/templates/crd/books.yaml"]
	for _, want := range []string{
		`"{{ "{{" }} not an expression }}"`, "helm.sh/resource-policy: keep", "strategy: Webhook",
		`cert-manager.io/inject-ca-from: '{{ $.Release.Namespace }}/{{ include "library.fullname" $ }}-webhooks'`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in:\n%s", want, text)
		}
	}
}

// TestExplanations checks that an installation serves explanations, that the metrics Service names the operator and its kinds, and that
// the permission to read explanations can be granted, with or without kubectl reconcilekit.
func TestExplanations(t *testing.T) {
	t.Parallel()
	files, err := install.Files(library(), config())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"config/", "chart/templates/"} {
		if text := files[folder+"manager/deployment.yaml"]; !strings.Contains(text, "- --serve-explanations\n") || !strings.Contains(text, "- --metrics-secure\n") {
			t.Errorf("explanations are not served behind authentication:\n%s", text)
		}
	}
	service := objects(t, "service", files["config/network/metrics_service.yaml"])[0]
	if got := service.GetLabels()["reconcilekit.dev/operator"]; got != "library" {
		t.Errorf("the Service is that of operator %q", got)
	}
	if got := service.GetAnnotations()["reconcilekit.dev/reconciles"]; got != "books.example.com" {
		t.Errorf("the operator reconciles %q", got)
	}
	rules := map[string]any{}
	for _, object := range objects(t, "roles", files["config/rbac/metrics.yaml"]) {
		rules[object.GetKind()+" "+object.GetName()] = object.Object["rules"]
	}
	want := []any{map[string]any{"nonResourceURLs": []any{"/debug/explain"}, "verbs": []any{"get"}}}
	if diff := cmp.Diff(want, rules["ClusterRole library-explainer"]); diff != "" {
		t.Errorf("the role of explanations (-want +got)\n%s", diff)
	}
	for _, name := range []string{"Role library-kubectl", "ServiceAccount library-explainer", "ClusterRoleBinding library-explainer"} {
		if _, found := rules[name]; !found {
			t.Errorf("there is no %s", name)
		}
	}
}
