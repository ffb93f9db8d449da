package install

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

// The expressions that take the place of values in a chart.
const (
	chartNamespace = "{{ .Release.Namespace }}"
	chartImage     = "{{ .Values.image }}"
	chartReplicas  = "{{ .Values.replicas }}"
)

// conditions are the values that switch files of the chart on, by path.
func conditions() map[string]string {
	return map[string]string{
		"network/policy.yaml":             "networkPolicy",
		"monitoring/service_monitor.yaml": "serviceMonitor",
	}
}

// chart is chart/: the same objects as config/, with what differs between installations as values. The CRDs are templates, as Helm does
// not update what stands in a chart's folder crds; they stay when the release is uninstalled.
func (c Config) chart(page dataflow.Page, crds, extra map[string]string) (map[string]string, error) {
	v := c.values(page)
	v.Helm, v.Namespace, v.Image, v.Replicas = true, chartNamespace, chartImage, chartReplicas
	rendered, err := render(v)
	if err != nil {
		return nil, err
	}
	delete(rendered, "manager/namespace.yaml") // helm install --create-namespace makes it
	rights, err := page.Files(page.Name, types.NamespacedName{Namespace: chartNamespace, Name: page.Name})
	if err != nil {
		return nil, err
	}
	for name, text := range rights {
		if inside, config := strings.CutPrefix(name, "config/"); config {
			rendered[inside] = text
		}
	}
	files := map[string]string{"chart/Chart.yaml": chartMetadata(page.Name), "chart/values.yaml": c.chartValues()}
	if files["chart/values.schema.json"], err = chartSchema(); err != nil {
		return nil, err
	}
	files["chart/templates/NOTES.txt"] = chartNotes(page, v)
	for name, text := range rendered {
		if value := conditions()[name]; value != "" {
			text = "{{- if .Values." + value + " }}\n" + text + "{{- end }}\n"
		}
		files[path.Join("chart/templates", name)] = text
	}
	for name, text := range extra {
		files[path.Join("chart/templates/extra", name)] = literal(text)
	}
	for name, text := range crds {
		if files[path.Join("chart/templates/crd", name)], err = c.chartCRD(page, name, text); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func chartMetadata(name string) string {
	return header + fmt.Sprintf("apiVersion: v2\nname: %s\ndescription: The operator %s\ntype: application\nversion: 0.1.0\nappVersion: \"0.1.0\"\n", name, name)
}

func (c Config) chartValues() string {
	return header + fmt.Sprintf(`image: %s
replicas: 2
# Arguments of the operator in addition to those of the chart.
args: []
# Level of the log: debug, info, error, or a number for more detail. Empty is the default of the operator.
logLevel: ""
# The limit fits about 5,000 owners with three children each. The operator's garbage collector observes it.
resources:
  requests:
    cpu: 50m
    memory: 128Mi
  limits:
    memory: 512Mi
imagePullSecrets: []
priorityClassName: ""
nodeSelector: {}
tolerations: []
affinity: {}
podLabels: {}
podAnnotations: {}
serviceAccount:
  annotations: {}
# Restrict what may reach the operator; needs a network plugin that knows policies.
networkPolicy: true
# Needs the Prometheus Operator.
serviceMonitor: false
`, c.Image)
}

// chartSchema is the schema of the values. It rejects values that the chart does not have.
func chartSchema() (string, error) {
	type schema = map[string]any
	typed := func(name string) schema { return schema{"type": name} }
	list := func(items schema) schema { return schema{"type": "array", "items": items} }
	texts := schema{"type": "object", "additionalProperties": typed("string")}
	closed := func(properties schema) schema {
		return schema{"type": "object", "additionalProperties": false, "properties": properties}
	}
	root := closed(schema{
		"image": schema{"type": "string", "minLength": 1}, "replicas": schema{"type": "integer", "minimum": 0},
		"args": list(typed("string")), "logLevel": typed("string"), "resources": typed("object"),
		"imagePullSecrets": list(closed(schema{"name": typed("string")})), "priorityClassName": typed("string"), "nodeSelector": texts,
		"tolerations": list(typed("object")), "affinity": typed("object"), "podLabels": texts, "podAnnotations": texts,
		"serviceAccount": closed(schema{"annotations": texts}), "networkPolicy": typed("boolean"), "serviceMonitor": typed("boolean"),
		"global": typed("object"), // of a chart that has this one as a dependency
	})
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	text, err := json.MarshalIndent(root, "", "  ")
	return string(text) + "\n", err
}

// chartNotes is what Helm prints after an installation.
func chartNotes(page dataflow.Page, v values) string {
	var w strings.Builder
	fmt.Fprintf(&w, "%s runs in the namespace {{ .Release.Namespace }}.\n\n  kubectl -n {{ .Release.Namespace }} rollout status deployment/%s\n", page.Name, page.Name)
	for _, kind := range v.Kinds {
		if len(kind.Reasons) > 0 {
			fmt.Fprintf(&w, "\nThe roles edit and admin do not include %s. Bind %s-%s-editor to the accounts that may create them.\n", kind.name(), page.Name, kind.Resource)
		}
	}
	fmt.Fprintf(&w, "\nMetrics need the role %s-metrics-reader, explanations of owners %s-explainer.\nThe CRDs stay when the release is uninstalled.\n", page.Name, page.Name)
	return w.String()
}

var crdName = regexp.MustCompile(`(?m)^  name: (\S+)$`)

// literal is a text without expressions.
func literal(text string) string { return strings.ReplaceAll(text, "{{", `{{ "{{" }}`) }

// chartCRD is a CRD as a template: its braces are text, it is kept, and where the operator converts it, that is in place.
func (c Config) chartCRD(page dataflow.Page, file, text string) (string, error) {
	text = literal(text)
	added := []string{"    helm.sh/resource-policy: keep\n"}
	found := crdName.FindStringSubmatch(text)
	if found == nil || strings.Count(text, "\n  annotations:\n") != 1 || strings.Count(text, "\nspec:\n") != 1 {
		return "", fmt.Errorf("install: %s: want one CRD as controller-gen writes it, with a name and annotations", file)
	}
	for _, converted := range page.Conversions {
		if converted != found[1] {
			continue
		}
		patch, err := execute(path.Join("templates", conversion), values{CRD: converted, WebhookService: serviceName(page, webhooksPort), Namespace: chartNamespace})
		if err != nil {
			return "", err
		}
		_, spec, _ := strings.Cut(patch, "\nspec:\n")
		text = strings.Replace(text, "\nspec:\n", "\nspec:\n"+spec, 1)
		if c.CertManager {
			added = append(added, "    cert-manager.io/inject-ca-from: '"+chartNamespace+"/"+page.Name+"-webhooks'\n")
		}
	}
	return strings.Replace(text, "\n  annotations:\n", "\n  annotations:\n"+strings.Join(added, ""), 1), nil
}
