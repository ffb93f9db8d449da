package install

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

// Files returns the page, the permissions and an installation as files, by path in the operator's folder: docs/dataflow.md,
// config/ with a kustomization, and chart/ with a Helm chart. They include the files of [dataflow.Page.Files]. The page's
// name is the name of all objects and must be a DNS-1123 label.
//
// The files in config/crd are not included: the generator of the CRDs writes them.
func Files(page dataflow.Page, config Config) (map[string]string, error) {
	if config.Namespace == "" {
		config.Namespace = page.Name + "-system"
	}
	if config.Image == "" {
		config.Image = page.Name + ":latest"
	}
	if config.Version == "" {
		config.Version = "0.1.0"
	}
	if err := config.check(page); err != nil {
		return nil, err
	}
	if err := config.aggregate(page, owners(page)); err != nil {
		return nil, err
	}
	crds, err := manifests("CRDs", config.CRDs)
	if err != nil {
		return nil, err
	}
	kinds, err := definitions(crds)
	if err != nil {
		return nil, err
	}
	if err := checkResources(page, kinds); err != nil {
		return nil, err
	}
	page.ClusterResources = clusterResources(page, kinds)
	extra, err := manifests("Extra", config.Extra)
	if err != nil {
		return nil, err
	}
	kustomize, err := config.kustomization(page, crds, extra)
	if err != nil {
		return nil, err
	}
	chart, err := config.chart(page, crds, extra)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	maps.Copy(files, kustomize)
	maps.Copy(files, chart)
	return files, nil
}

var version = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$`)

// check returns all errors of the configuration and the page.
func (c Config) check(page dataflow.Page) error {
	var errs []error
	for field, name := range map[string]string{"name of the page": page.Name, "Config.Namespace": c.Namespace} {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("install: %s %q: %s", field, name, strings.Join(problems, "; ")))
		}
	}
	if len(page.Name) > maxName {
		errs = append(errs, fmt.Errorf("install: name of the page %q: want at most %d characters, as names of Services end in -webhooks", page.Name, maxName))
	}
	if !version.MatchString(c.Version) {
		errs = append(errs, fmt.Errorf("install: Config.Version %q: want a version as in SemVer, such as 1.2.3", c.Version))
	}
	for _, port := range []string{metricsPort, webhooksPort} {
		name := serviceName(page, port)
		if problems := validation.IsDNS1035Label(name); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("install: Service %q with the port %s: %s", name, port, strings.Join(problems, "; ")))
		}
	}
	for _, webhook := range page.Webhooks {
		if want := c.Namespace + "/" + serviceName(page, webhooksPort); webhook.Service != "" && webhook.Service != want {
			errs = append(errs, fmt.Errorf("install: webhook %q: service %q: want %q, the installed Service", webhook.Name, webhook.Service, want))
		}
		if len(webhook.Rules) == 0 {
			errs = append(errs, fmt.Errorf("install: webhook %q has no rules: add Rules to the webhook on the page", webhook.Name))
		}
		if webhook.Type != mutating && webhook.Type != validating {
			errs = append(errs, fmt.Errorf("install: webhook %q: type %q: want %s or %s", webhook.Name, webhook.Type, mutating, validating))
		}
	}
	return errors.Join(errs...)
}

// manifests reads the manifests of a folder, by file name.
func manifests(field string, folder fs.FS) (map[string]string, error) {
	files := map[string]string{}
	if folder == nil {
		return files, nil
	}
	names, err := fs.Glob(folder, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("install: read Config.%s: %w", field, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("install: Config.%s has no file *.yaml: generate the CRDs first, or remove the field", field)
	}
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, fmt.Errorf("install: read Config.%s: %w", field, err)
		}
		files[name] = string(text)
	}
	return files, nil
}

// kustomization returns the files in config/ except config/crd and config/extra.
func (c Config) kustomization(page dataflow.Page, crds, extra map[string]string) (map[string]string, error) {
	files, err := page.Files(page.Name, types.NamespacedName{Namespace: c.Namespace, Name: page.Name})
	if err != nil {
		return nil, err
	}
	v := c.values(page)
	rendered, err := render(v)
	if err != nil {
		return nil, err
	}
	patches, err := conversions(v)
	if err != nil {
		return nil, err
	}
	for name, text := range rendered {
		files[path.Join("config", name)] = text
	}
	const namespace = "manager/namespace.yaml"
	resources := append(make([]string, 0, len(files)+len(crds)+len(extra)), namespace) // first, because the other objects are in it
	for _, name := range slices.Sorted(maps.Keys(crds)) {
		resources = append(resources, path.Join("crd", name))
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		resources = append(resources, path.Join("extra", name))
	}
	var monitoring []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		inside, config := strings.CutPrefix(name, "config/")
		switch {
		case !config, inside == namespace:
		case strings.HasPrefix(inside, "monitoring/"):
			monitoring = append(monitoring, path.Base(inside))
		default:
			resources = append(resources, inside)
		}
	}
	files["config/kustomization.yaml"] = kustomization(resources, patches)
	files["config/monitoring/kustomization.yaml"] = kustomization(monitoring, nil)
	return files, nil
}

func kustomization(resources, patches []string) string {
	var w strings.Builder
	w.WriteString(header + "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n")
	for _, name := range resources {
		w.WriteString("  - " + name + "\n")
	}
	if len(patches) > 0 {
		w.WriteString("patches:\n")
	}
	for _, patch := range patches {
		w.WriteString("  - patch: |-\n" + indent(patch))
	}
	return w.String()
}

// indent indents a text for a YAML block.
func indent(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n      ") + "\n"
}
