package catalog

import (
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/manifests"
	corev1 "k8s.io/api/core/v1"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// TestDefaultSources checks that the managed document has the sources, labels and queries of the product. The
// descriptions differ.
func TestDefaultSources(t *testing.T) {
	t.Parallel()
	scheme := clientscheme.Scheme
	set, err := newChildren(scheme, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	object, err := set.Manifests.Render("default-sources.yaml", facts{Settings: Settings{Settings: v1beta1.Settings{Namespace: "registries"}}})
	if err != nil {
		t.Fatal(err)
	}
	config := &corev1.ConfigMap{}
	if err := manifests.Change(object, func(c *corev1.ConfigMap) { config = c.DeepCopy() }); err != nil {
		t.Fatal(err)
	}
	type source struct {
		Name, ID, Type string
		Enabled        bool
		Properties     struct {
			Path string `json:"yamlCatalogPath"`
		}
		Labels []string
	}
	type document struct {
		Catalogs, MCPCatalogs []source
		Labels                []struct {
			Name      *string
			AssetType string
		}
		NamedQueries map[string]map[string]struct {
			Operator string
			Value    any
		}
	}
	want := strings.NewReplacer("PATH ", "type: yaml, enabled: true, properties: {yamlCatalogPath: /shared-data/").Replace(`
catalogs:
- {name: Red Hat AI, id: redhat_ai_models, labels: [Red Hat AI], PATH models-catalog.yaml}}
- {name: Red Hat AI validated, id: redhat_ai_validated_models, labels: [Red Hat AI validated], PATH validated-models-catalog.yaml}}
- {name: Other, id: other_models, PATH other-models-catalog.yaml}}
mcpCatalogs:
- {name: Red Hat MCP Servers, id: rh_mcp_servers, labels: [Red Hat], PATH redhat-mcp-servers-catalog.yaml}}
- {name: Red Hat Partner MCP Servers, id: rh_partner_mcp_servers, labels: [Red Hat Partners], PATH partner-mcp-servers-catalog.yaml}}
- {name: Community MCP Servers, id: community_mcp_servers, PATH community-mcp-servers-catalog.yaml}}
labels:
- {name: Red Hat AI validated, assetType: models}
- {name: Red Hat AI, assetType: models}
- {name: null, assetType: models}
- {name: Red Hat, assetType: mcp_servers}
- {name: Red Hat Partners, assetType: mcp_servers}
namedQueries:
  default-performance-filters:
    artifacts.use_case.string_value: {operator: "=", value: chatbot}
    artifacts.requests_per_second.double_value: {operator: "<=", value: 1}
    artifacts.ttft_p90.double_value: {operator: "<=", value: max}
`)
	var got document
	text := strings.ReplaceAll(config.Data[sourcesKey], "mcp_catalogs:", "mcpCatalogs:")
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if diff := expect.Diff(t, want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
