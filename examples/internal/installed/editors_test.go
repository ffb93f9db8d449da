package installed_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// TestEditors checks which kinds the installed roles, in config and in the chart, add to the roles edit and admin of
// Kubernetes. An account with edit in one namespace must not be able to create owners of the other kinds, because these
// make the operator write RBAC or act in other namespaces.
func TestEditors(t *testing.T) {
	t.Parallel()
	for example, want := range map[string][]string{
		"aim":           nil,
		"cronjob":       {"cronjobs.cronjob.example.com"},
		"grafana":       nil,
		"maas":          nil,
		"modelmesh":     nil,
		"modelregistry": nil,
		"quickstart":    {"websites.quickstart.example.com"},
		"trustyai":      nil,
	} {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			for _, folder := range []string{"config/rbac", "config/extra", "chart/templates/rbac", "chart/templates/extra"} {
				var got []string
				files, err := filepath.Glob(filepath.Join("../..", example, folder, "*.yaml"))
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range files {
					got = append(got, aggregated(t, file)...)
				}
				slices.Sort(got)
				expected := want
				if strings.HasSuffix(folder, "extra") {
					expected = nil
				}
				if diff := cmp.Diff(expected, slices.Compact(got)); diff != "" {
					t.Errorf("%s: kinds that edit and admin may write (-want +got):\n%s", folder, diff)
				}
			}
		})
	}
}

// A condition in a chart is a line that is not YAML, and names are included.
var (
	condition = regexp.MustCompile(`(?m)^\s*\{\{-.*\}\}$`)
	included  = regexp.MustCompile(`\{\{ include "([^"]*)" \$ \}\}`)
)

// aggregated returns the resources that the roles of a file allow edit or admin to write.
func aggregated(t *testing.T, file string) (resources []string) {
	t.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // a file of an example
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		document = included.ReplaceAllString(condition.ReplaceAllString(document, ""), "$1")
		document = strings.NewReplacer("{{", "", "}}", "").Replace(document) // placeholders of namespaces
		role := rbacv1.ClusterRole{}
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		_, edit := role.Labels["rbac.authorization.k8s.io/aggregate-to-edit"]
		_, admin := role.Labels["rbac.authorization.k8s.io/aggregate-to-admin"]
		if role.Kind != "ClusterRole" || !edit && !admin {
			continue
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					resources = append(resources, resource+"."+group)
				}
			}
		}
	}
	return resources
}
