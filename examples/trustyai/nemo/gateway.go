package nemo

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

const (
	bbrFilter  = "envoy.filters.http.ext_proc.bbr"
	filterName = "mcp-sse-strip"
)

// gateway is the gateway of a server, as found.
type gateway struct {
	wanted       *v1alpha1.MCPGateway
	name         string // of the Gateway, empty when there is none
	bbr          bool   // its namespace has the plug-in
	missing, err error  // why it was not found
}

// fetchGateway finds the first gateway with an extension for the Model Context Protocol, and with the wanted name if the server sets
// one.
func fetchGateway(ctx context.Context, reader reconcile.Reader, n *v1alpha1.NemoGuardrails) (g gateway) {
	if n.Spec.Template == nil || n.Spec.Template.Pod == nil || n.Spec.Template.Pod.MCPGateway == nil {
		return g
	}
	g.wanted = n.Spec.Template.Pod.MCPGateway
	in := client.InNamespace(g.wanted.Namespace)
	extensions := reconcile.FetchList(ctx, reader, &foreign.MCPGatewayExtensionList{}, in)
	if g.missing = extensions.Error; extensions.Value == nil {
		return g
	}
	for _, extension := range extensions.Value.Items {
		to := extension.Spec.TargetRef
		if to.Name == "" || (g.wanted.Name != "" && to.Name != g.wanted.Name) {
			continue
		}
		key := client.ObjectKey{Namespace: to.Namespace, Name: to.Name}
		if key.Namespace == "" {
			key.Namespace = extension.Namespace
		}
		if found := reconcile.Fetch(ctx, reader, key, &gatewayv1.Gateway{}); found.Value != nil {
			g.name = found.Value.Name
			break
		}
	}
	if g.name == "" {
		return g
	}
	filters := reconcile.FetchList(ctx, reader, &foreign.EnvoyFilterList{}, in)
	if g.err = filters.Error; filters.Value == nil {
		return g
	}
	for i := range filters.Value.Items {
		g.bbr = g.bbr || hasBBR(&filters.Value.Items[i])
	}
	return g
}

func hasBBR(f *foreign.EnvoyFilter) bool {
	var spec struct {
		ConfigPatches []struct {
			Change struct {
				Value struct{ Name string }
			} `json:"patch"`
		}
	}
	if f.Name == filterName || json.Unmarshal(f.Spec.Raw, &spec) != nil {
		return false
	}
	for _, p := range spec.ConfigPatches {
		if p.Change.Value.Name == bbrFilter {
			return true
		}
	}
	return false
}

// plan plans the filter, which belongs to all servers that use the gateways of that namespace, and is deleted with the last of them.
func (g gateway) plan(plan *reconcile.PlanResult) error {
	if g.name == "" || !g.bbr {
		return nil
	}
	subFilter := map[string]any{"name": bbrFilter}
	listener := map[string]any{"filterChain": map[string]any{"filter": map[string]any{
		"name": "envoy.filters.network.http_connection_manager", "subFilter": subFilter,
	}}}
	lua := map[string]any{
		"@type":               "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
		"default_source_code": map[string]any{"inline_string": script},
	}
	spec, err := json.Marshal(map[string]any{
		"workloadSelector": map[string]any{"labels": map[string]any{"gateway.networking.k8s.io/gateway-name": g.name}},
		"configPatches": []any{map[string]any{
			"applyTo": "HTTP_FILTER",
			"match":   map[string]any{"context": "ANY", "listener": listener},
			"patch": map[string]any{"operation": "INSERT_AFTER", "value": map[string]any{
				"name": "envoy.filters.http.lua", "typed_config": lua,
			}},
		}},
	})
	filter := &foreign.EnvoyFilter{ObjectMeta: metav1.ObjectMeta{Namespace: g.wanted.Namespace, Name: filterName}}
	filter.Spec.Raw = spec
	plan.Apply(filter, apply.Shared, apply.AdoptUncontrolled)
	return err
}

// script reduces the event stream of an answer to its last message, which the guardrails can read.
const script = `function envoy_on_response(handle)
  local headers = handle:headers()
  local kind = headers:get("content-type") or ""
  if not kind:find("text/event-stream", 1, true) then return end
  local body = handle:body()
  if body == nil then return end
  local last
  for data in body:getBytes(0, body:length()):gmatch("data:%s*([^\r\n]+)") do last = data end
  if last == nil then return end
  body:setBytes(last)
  headers:replace("content-type", "application/json")
  headers:replace("content-length", tostring(#last))
  headers:remove("transfer-encoding")
end
`

// status returns the status of the gateway in the form of the product, or nil if the server uses none.
func (g gateway) status() (*v1alpha1.MCPGatewayStatus, *v1alpha1.BBRPluginStatus) {
	if g.wanted == nil {
		return nil, nil
	}
	if g.name == "" {
		message := "MCP gateway not found: " + g.wanted.Name
		if g.wanted.Name == "" {
			message = "MCP gateway not found in namespace: " + g.wanted.Namespace
		}
		if g.missing != nil {
			message = g.missing.Error()
		}
		return &v1alpha1.MCPGatewayStatus{MCPGatewayError: strings.TrimSpace(message)}, nil
	}
	plugin := &v1alpha1.BBRPluginStatus{BBRPluginFound: g.bbr}
	if !g.bbr {
		plugin.BBRPluginError = "no EnvoyFilter with " + bbrFilter + " in namespace " + g.wanted.Namespace
	}
	if g.err != nil {
		plugin.BBRPluginError = g.err.Error()
	}
	return &v1alpha1.MCPGatewayStatus{MCPGatewayFound: true}, plugin
}
