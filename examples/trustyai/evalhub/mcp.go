package evalhub

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/proxy"
)

const (
	mcpSuffix = "-mcp"
	mcpCA     = "/etc/evalhub-mcp/ca/service-ca.crt"
)

// mcpObjects returns the MCP server, its Service and its route.
func (obs Observation) mcpObjects() ([]client.Object, error) {
	hub, mcp := obs.hub, obs.hub.Spec.MCP
	transport := cmp.Or(mcp.Transport, "http")
	config, err := yaml.Marshal(tree{
		"base_url": obs.names.url(""), "transport": transport, "host": "127.0.0.1", "port": 8445, "ca_cert_path": mcpCA,
	})
	if err != nil {
		return nil, err
	}
	auth, err := mcpAuth(hub)
	if err != nil {
		return nil, err
	}
	files := obs.configMap("-mcp-config", map[string]string{"config.yaml": string(config), "auth.yaml": auth})
	p, tls := &pod{}, obs.names.service("-mcp-tls")
	p.add("evalhub-mcp-config", "/etc/evalhub-mcp", proxy.FromConfigMap(files.Name))
	p.volume(tls, proxy.FromSecret(tls))
	p.add("mcp-service-ca", "/etc/evalhub-mcp/ca", proxy.FromConfigMap(long(hub.Name+"-service-ca")))
	server := corev1.Container{
		Name: "evalhub-mcp", Image: cmp.Or(mcp.Image, obs.images[images.EvalHub]), Command: []string{"/app/evalhub-mcp"},
		Args: []string{
			"--config", "/etc/evalhub-mcp/config.yaml", "--transport", string(transport), "--host", "127.0.0.1", "--port", "8445",
			"--auth-type", "rbac-proxy",
		},
		Env: override(mcp.Env, obs.mcpEnv(cmp.Or(mcp.EvalHubTransport, transport)), nil), VolumeMounts: p.mounts,
		Resources: obs.resources("evalHubMCP", "100m", "128Mi", "500m", "256Mi"),
	}
	if mcp.Resources != nil {
		server.Resources = *mcp.Resources
	}
	sidecar := obs.proxy("http://127.0.0.1:8445", "/health", tls, "evalhub-mcp-config", "mcp-service-ca")
	return []client.Object{
		files, obs.workload(long(hub.Name+mcpSuffix), "mcp", mcp.Replicas, p.volumes, server, sidecar),
		obs.service(mcpSuffix, "mcp", "https", 8443), obs.route(mcpSuffix, "mcp"),
	}, nil
}

func (obs Observation) mcpEnv(transport v1.Transport) []corev1.EnvVar {
	out := variables("EVALHUB_TRANSPORT", string(transport), "EVALHUB_HOST", "127.0.0.1", "EVALHUB_PORT", "8445",
		"EVALHUB_BASE_URL", obs.names.url(""),
		"EVALHUB_TENANT", obs.hub.Namespace, "EVALHUB_CA_CERT_PATH", mcpCA, "EVALHUB_INSECURE", "false")
	if name := obs.hub.Spec.MCP.AuthSecret; name != "" {
		from := &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "token"}
		out = append(out, corev1.EnvVar{Name: "EVALHUB_TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: from}})
	}
	return out
}

// mcpAuth returns the configuration of the proxy in front of the MCP server: it admits every user of the hub.
func mcpAuth(hub *v1.EvalHub) (string, error) {
	var rules []any
	for _, verb := range [][2]string{{"get", "get"}, {"post", "create"}} {
		rules = append(rules, tree{"methods": []string{verb[0]}, "resources": []any{tree{"resourceAttributes": tree{
			"namespace": hub.Namespace, "apiGroup": group, "resource": "evalhubs", "subresource": "proxy", "name": hub.Name, "verb": verb[1],
		}}}})
	}
	return marshalAuth([]any{tree{"path": "/*", "mappings": rules}})
}
