package install

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

const header = "# Generated from the declarations of the controllers. Do not edit.\n"

// The types of webhooks on a page.
const (
	mutating   = "mutating"
	validating = "validating"
)

// The names of the operator's ports, and the suffixes of the default names of their Services.
const (
	metricsPort  = "metrics"
	webhooksPort = "webhooks"
)

// conversion is the template of a patch, which is not written to a file of its own.
const conversion = "webhook/conversion.yaml"

//go:embed templates
var templates embed.FS

// values are the data of the templates. In a chart the strings are Helm expressions.
type values struct {
	Chart, Name, Namespace, Image, Replicas string
	Version, Repository, Tag, Digest        string
	MetricsService, WebhookService          string
	Namespaces, Lease                       string
	Args, Env, Egress                       []string // Env and Egress as JSON
	Restricted                              bool     // whether Egress restricts the operator
	Kinds                                   []resource
	Webhooks                                []webhook
	Conversions                             []string
	Helm, CertManager                       bool
	CRD                                     string // of the conversion that is rendered
}

// resource is a kind that users write. Reasons are the reasons not to aggregate its editor role to the roles edit and
// admin.
type resource struct {
	Group, Resource string
	Reasons         []string
}

// name returns the resource with its group, as in websites.example.com.
func (r resource) name() string { return r.Resource + "." + r.Group }

// webhook is a webhook with its rules as JSON and the kind and resource of its configuration.
type webhook struct {
	dataflow.Webhook
	Kind, Resource string
	Rules          []string
}

// MaxName returns the maximum length of an installation's name.
func (values) MaxName() int { return maxName }

// Scope returns the Prometheus selector of the installation's metrics, with the labels of the ServiceMonitor.
func (v values) Scope() string {
	return `job="` + v.MetricsService + `",namespace="` + v.Namespace + `"`
}

// Serves reports whether the operator has a webhook server.
func (v values) Serves() bool { return len(v.Webhooks)+len(v.Conversions) > 0 }

func (c Config) values(page dataflow.Page) values {
	v := values{
		Chart: page.Name, Name: page.Name, Namespace: c.Namespace, Image: c.Image, Replicas: "2", Args: c.Args, Conversions: page.Conversions,
		Version: c.Version, Restricted: c.Egress != nil,
		Namespaces: strings.Join(page.Namespaces, ","), Kinds: owners(page),
		MetricsService: serviceName(page, metricsPort), WebhookService: serviceName(page, webhooksPort),
	}
	if len(page.Leases) > 0 {
		v.Lease = page.Leases[0]
	}
	_ = c.aggregate(page, v.Kinds) // Files has checked the error
	v.CertManager = c.CertManager && len(page.Webhooks)+len(page.Conversions) > 0
	if v.Repository, v.Tag, v.Digest = splitImage(c.Image); v.Tag == "" && v.Digest == "" {
		v.Image += ":" + c.Version
	}
	for _, variable := range c.Env {
		if text, err := json.Marshal(variable); err == nil { // only strings: cannot fail
			v.Env = append(v.Env, string(text))
		}
	}
	for _, rule := range c.Egress {
		if text, err := json.Marshal(rule); err == nil { // only strings and numbers: cannot fail
			v.Egress = append(v.Egress, string(text))
		}
	}
	for _, w := range page.Webhooks {
		served := webhook{Webhook: w, Kind: "ValidatingWebhookConfiguration", Resource: "validatingwebhookconfigurations"}
		if w.Type == mutating {
			served.Kind, served.Resource = "MutatingWebhookConfiguration", "mutatingwebhookconfigurations"
		}
		for _, rule := range w.Rules {
			text, err := json.Marshal(rule)
			if err != nil {
				continue // only strings: cannot fail
			}
			served.Rules = append(served.Rules, string(text))
		}
		v.Webhooks = append(v.Webhooks, served)
	}
	return v
}

// splitImage returns the parts of an image reference; tag and digest may be empty.
func splitImage(image string) (repository, tag, digest string) {
	repository, digest, _ = strings.Cut(image, "@")
	if at := strings.LastIndex(repository, ":"); at > strings.LastIndex(repository, "/") { // it is not the port of a registry
		repository, tag = repository[:at], repository[at+1:]
	}
	return repository, tag, digest
}

// serviceName returns the name of the Service with the port.
func serviceName(page dataflow.Page, port string) string {
	for _, service := range page.Services {
		if service.PortName == port {
			return service.Name
		}
	}
	return defaultService(page.Name, port)
}

// defaultService returns the name of a Service that the page does not name.
func defaultService(name, port string) string { return name + "-" + port }

// owners returns the kinds that the operator reconciles and installs. Their resources are those of the permissions for
// their status, which every owner has.
func owners(page dataflow.Page) []resource {
	var found []resource
	for _, c := range page.Controllers {
		for _, rule := range c.Rules {
			for _, group := range rule.APIGroups {
				for _, name := range rule.Resources {
					owner, status := strings.CutSuffix(name, "/status")
					if status && custom(page, group) {
						found = append(found, resource{Group: group, Resource: owner})
					}
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b resource) int { return strings.Compare(a.Group+"/"+a.Resource, b.Group+"/"+b.Resource) })
	return slices.CompactFunc(found, func(a, b resource) bool { return a.name() == b.name() })
}

// custom reports whether the operator installs a CRD of the group.
func custom(page dataflow.Page, group string) bool {
	return slices.ContainsFunc(page.CRDs, func(crd string) bool { return strings.Contains(crd, "("+group+"/") })
}

// render executes the templates and returns the results by path in config/ or chart/templates/.
func render(v values) (map[string]string, error) {
	files := map[string]string{}
	names, err := fs.Glob(templates, "templates/*/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		inside := strings.TrimPrefix(name, "templates/")
		wanted := map[string]bool{
			conversion:                         false,
			"webhook/webhooks.yaml":            len(v.Webhooks) > 0,
			"network/webhook_service.yaml":     v.Serves(),
			"manager/webhook_secret.yaml":      v.Serves() && !v.CertManager,
			"rbac/webhook_certificate.yaml":    v.Serves() && !v.CertManager,
			"manager/webhook_certificate.yaml": v.CertManager,
			"rbac/users.yaml":                  len(v.Kinds) > 0,
		}
		if needed, depends := wanted[inside]; depends && !needed {
			continue
		}
		if files[inside], err = execute(name, v); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// conversions returns the patches of the CRDs that the operator converts.
func conversions(v values) (patches []string, err error) {
	for _, v.CRD = range v.Conversions {
		patch, err := execute(path.Join("templates", conversion), v)
		if err != nil {
			return nil, err
		}
		patches = append(patches, strings.TrimPrefix(patch, header))
	}
	return patches, nil
}

func execute(name string, v values) (string, error) {
	source, err := templates.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("install: %w", err)
	}
	text := string(source)
	if v.Helm && strings.HasPrefix(name, "templates/monitoring/") { // which contain expressions of Prometheus and Grafana
		text = literalValues(text)
	}
	parsed, err := template.New(path.Base(name)).Delims("[[", "]]").Option("missingkey=error").
		Funcs(template.FuncMap{"quote": quote}).Parse(text)
	if err != nil {
		return "", fmt.Errorf("install: parse %s: %w", name, err)
	}
	var w strings.Builder
	w.WriteString(header)
	if err := parsed.Execute(&w, v); err != nil {
		return "", fmt.Errorf("install: render %s: %w", name, err)
	}
	return strings.TrimSuffix(w.String(), "\n") + "\n", nil
}

// quote returns a YAML string, which is a JSON string.
func quote(text string) (string, error) {
	quoted, err := json.Marshal(text)
	return string(quoted), err
}
