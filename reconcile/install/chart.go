package install

import (
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
	return header + fmt.Sprintf("apiVersion: v2\nname: %s\ndescription: The operator %s\ntype: application\nversion: 0.1.0\n", name, name)
}

func (c Config) chartValues() string {
	return header + fmt.Sprintf(`image: %s
replicas: 2
resources:
  requests:
    cpu: 50m
    memory: 64Mi
  limits:
    memory: 256Mi
# Restrict what may reach the operator; needs a network plugin that knows policies.
networkPolicy: true
# Needs the Prometheus Operator.
serviceMonitor: false
`, c.Image)
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
		patch, err := execute(path.Join("templates", conversion), values{CRD: converted, Name: page.Name, Namespace: chartNamespace})
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
