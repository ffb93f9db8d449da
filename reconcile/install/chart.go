package install

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

// The expressions that replace values in a chart.
const (
	chartNamespace = "{{ $.Release.Namespace }}"
	chartImage     = `{{ include "%s.image" $ }}`
	chartName      = `{{ include "%s.fullname" $ }}`
	chartLease     = `{{ include "%s.lease" $ }}`
	chartReplicas  = "{{ .Values.replicas }}"
)

// conditions are the values that enable files of the chart, by path. Objects that exist once in a cluster share one value.
func conditions() map[string]string {
	return map[string]string{
		"network/policy.yaml":              "networkPolicy.enabled",
		"monitoring/service_monitor.yaml":  "serviceMonitor.enabled",
		"monitoring/rules.yaml":            "prometheusRule.enabled",
		"monitoring/dashboard.yaml":        "dashboard.enabled",
		"network/webhook_service.yaml":     "crds",
		"manager/webhook_secret.yaml":      "crds",
		"manager/webhook_certificate.yaml": "crds",
		"rbac/webhook_certificate.yaml":    "crds",
		"webhook/webhooks.yaml":            "crds",
	}
}

// when makes the text of a chart's file depend on a value.
func when(value, text string) string {
	if value == "" {
		return text
	}
	return "{{- if .Values." + value + " }}\n" + text + "{{- end }}\n"
}

// chart returns the files in chart/: the objects of config/ with values for the differences between installations. The CRDs
// are templates, because Helm does not update CRDs in a chart's folder crds; they remain when the release is uninstalled.
// The names derive from the name of the release, so a cluster may have several releases.
func (c Config) chart(page dataflow.Page, crds, extra map[string]string) (map[string]string, error) {
	v := c.values(page)
	v.Helm, v.Namespace, v.Replicas = true, chartNamespace, chartReplicas
	v.Name, v.Image = fmt.Sprintf(chartName, page.Name), fmt.Sprintf(chartImage, page.Name)
	v.MetricsService, v.WebhookService = chartService(page, v.Name, metricsPort), chartService(page, v.Name, webhooksPort)
	rendered, err := render(v)
	if err != nil {
		return nil, err
	}
	delete(rendered, "manager/namespace.yaml") // helm install --create-namespace creates it
	rights, err := chartRights(page, v.Name)
	if err != nil {
		return nil, err
	}
	maps.Copy(rendered, rights)
	files := map[string]string{}
	for name, file := range map[string]string{
		"Chart.yaml": "metadata.tpl", "values.yaml": "values.tpl", "templates/_helpers.tpl": "helpers.tpl", "templates/NOTES.txt": "notes.tpl",
	} {
		if files[path.Join("chart", name)], err = execute(path.Join("templates/chart", file), v); err != nil {
			return nil, err
		}
	}
	files["chart/templates/NOTES.txt"] = strings.TrimPrefix(files["chart/templates/NOTES.txt"], header)
	files["chart/templates/_helpers.tpl"] = strings.TrimPrefix(files["chart/templates/_helpers.tpl"], header)
	if files["chart/values.schema.json"], err = chartSchema(v); err != nil {
		return nil, err
	}
	for name, text := range rendered {
		files[path.Join("chart/templates", name)] = when(conditions()[name], text)
	}
	for name, text := range extra {
		files[path.Join("chart/templates/extra", name)] = when("crds", literal(text))
	}
	for name, text := range crds {
		crd, err := c.chartCRD(page, v.Name, name, text)
		if err != nil {
			return nil, err
		}
		files[path.Join("chart/templates/crd", name)] = when("crds", crd)
	}
	return files, nil
}

// chartService returns the name of a Service in a chart. Without a name on the page it derives from the release.
func chartService(page dataflow.Page, release, port string) string {
	if name := serviceName(page, port); name != defaultService(page.Name, port) {
		return name
	}
	return defaultService(release, port)
}

// chartRights returns the permissions in a chart. With the value namespaces they are bound only in these, and those for
// cluster-scoped resources in the cluster. Namespaces of the page take precedence over the value.
func chartRights(page dataflow.Page, name string) (map[string]string, error) {
	account := types.NamespacedName{Namespace: chartNamespace, Name: name}
	rights := func(p dataflow.Page) (map[string]string, error) {
		files, err := p.Files(name, account)
		found := map[string]string{}
		for file, text := range files {
			if inside, config := strings.CutPrefix(file, "config/"); config {
				found[inside] = text
			}
		}
		return found, err
	}
	page.Leases = chartLeases(page)
	files, err := rights(page)
	if err != nil || len(page.Namespaces) > 0 {
		return files, err
	}
	page.Namespaces = []string{"{{ . }}"}
	restricted, err := rights(page)
	if err != nil {
		return nil, err
	}
	const roles, bindings, separator = "rbac/role.yaml", "rbac/role_binding.yaml", "---\n"
	beyond := func(file string) string { // the second document is for cluster-scoped resources
		documents := strings.SplitN(restricted[file], separator, 3) //nolint:mnd // empty, the first document, the others
		if len(documents) < 3 {                                     //nolint:mnd // as above
			return ""
		}
		return separator + documents[2]
	}
	within := strings.TrimSuffix(restricted[bindings], beyond(bindings))
	if role := beyond(roles); role != "" {
		files[roles] += when("namespaces", role)
	}
	everywhere := "{{- if not .Values.namespaces }}\n" + files[bindings]
	if binding := beyond(bindings); binding != "" {
		everywhere = "{{- if .Values.namespaces }}\n" + binding + "{{- else }}\n" + files[bindings]
	}
	files[bindings] = "{{- range .Values.namespaces }}\n" + within + "{{- end }}\n" + everywhere + "{{- end }}\n"
	return files, nil
}

// chartLeases returns the names of the leases in a chart: those of the page for a release with the name of the chart, and names that derive
// from the release for others, for which the Deployment sets the flag of the lease.
func chartLeases(page dataflow.Page) []string {
	leases := slices.Clone(page.Leases)
	for i, lease := range leases {
		if suffix, derived := strings.CutPrefix(lease, page.Leases[0]); derived {
			leases[i] = fmt.Sprintf(chartLease, page.Name) + suffix
		}
	}
	return leases
}

// chartSchema returns the JSON schema of the values. It rejects unknown values.
func chartSchema(v values) (string, error) {
	type schema = map[string]any
	typed := func(names ...string) schema {
		if len(names) == 1 {
			return schema{"type": names[0]}
		}
		return schema{"type": names}
	}
	list := func(items schema) schema { return schema{"type": "array", "items": items} }
	texts := schema{"type": "object", "additionalProperties": typed("string")}
	closed := func(properties schema) schema {
		return schema{"type": "object", "additionalProperties": false, "properties": properties}
	}
	switched := closed(schema{"enabled": typed("boolean"), "labels": texts})
	properties := schema{
		"image": closed(schema{
			"repository": schema{"type": "string", "minLength": 1}, "tag": typed("string"),
			"digest": schema{"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"}, "pullPolicy": schema{"enum": []string{"Always", "IfNotPresent", "Never"}},
		}),
		"fullnameOverride": schema{"type": "string", "maxLength": maxName}, "crds": typed("boolean"),
		"replicas": schema{"type": "integer", "minimum": 0}, "args": list(typed("string")), "env": list(typed("object")),
		"logLevel": typed("string", "integer"), "resources": typed("object"), "imagePullSecrets": list(closed(schema{"name": typed("string")})),
		"priorityClassName": typed("string"), "nodeSelector": texts, "tolerations": list(typed("object")), "affinity": typed("object"),
		"topologySpreadConstraints": list(typed("object")), "runAsUser": typed("integer", "null"), "labels": texts, "annotations": texts,
		"podLabels": texts, "podAnnotations": texts, "serviceAccount": closed(schema{"annotations": texts}),
		"networkPolicy":  closed(schema{"enabled": typed("boolean"), "egress": schema{"type": []string{"array", "null"}, "items": typed("object")}}),
		"serviceMonitor": switched, "prometheusRule": switched, "dashboard": switched,
		"global": typed("object"), "enabled": typed("boolean"), // Helm sets these for a dependency of another chart
	}
	if v.Namespaces == "" {
		properties["namespaces"] = list(typed("string"))
	}
	root := closed(properties)
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	text, err := json.MarshalIndent(root, "", "  ")
	return string(text) + "\n", err
}

// maxName is the maximum length of an installation's name: names of Services end in -webhooks and have at most 63
// characters.
const maxName = 54

var crdName = regexp.MustCompile(`(?m)^  name: (\S+)$`)

// foreign matches the expressions of Prometheus and Grafana in manifests of monitoring.
var foreign = regexp.MustCompile(`\{\{( \$labels| \$value|[a-z])`)

// literalValues escapes the expressions of Prometheus and Grafana for Helm.
func literalValues(text string) string { return foreign.ReplaceAllString(text, `{{ "{{" }}$1`) }

// literal escapes all expressions for Helm.
func literal(text string) string { return strings.ReplaceAll(text, "{{", `{{ "{{" }}`) }

// chartCRD returns a CRD as a template: its braces are escaped, it has the annotation that keeps it, and a conversion by
// the operator is set.
func (c Config) chartCRD(page dataflow.Page, release, file, text string) (string, error) {
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
		patch, err := execute(path.Join("templates", conversion), values{
			CRD: converted, Name: release, WebhookService: chartService(page, release, webhooksPort), Namespace: chartNamespace,
		})
		if err != nil {
			return "", err
		}
		_, spec, _ := strings.Cut(patch, "\nspec:\n")
		text = strings.Replace(text, "\nspec:\n", "\nspec:\n"+spec, 1)
		if c.CertManager {
			added = append(added, "    cert-manager.io/inject-ca-from: '"+chartNamespace+"/"+release+"-webhooks'\n")
		}
	}
	return strings.Replace(text, "\n  annotations:\n", "\n  annotations:\n"+strings.Join(added, ""), 1), nil
}
