package authpolicy

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// policy has the parts of a generated AuthPolicy that clients and gateways depend on, without the expressions.
type policy struct {
	Metadata map[string]any
	Target   map[string]any
	// Rules of each section, by name.
	Metadatas, Authentication, Authorization map[string]rule
	Headers, Properties                      []string
	Unauthenticated, Unauthorized            int64
	Reasons                                  []string // sources of the reason of a denial
}

type rule struct {
	Priority    int64
	URL, Method string
	Cached      int64 // seconds
	Conditions  int   // number of conditions of the rule
	Details     map[string]any
}

// TestPolicy compares the rules, headers and properties of a model's AuthPolicy with those of the product.
func TestPolicy(t *testing.T) {
	t.Parallel()
	p := &maasv1alpha1.MaaSAuthPolicy{Spec: &maasv1alpha1.MaaSAuthPolicySpec{}}
	p.Name = "staff"
	got := policyOf(t, models.Config{AppNamespace: "app", MetadataTTL: 60, AuthzTTL: 30}, p)
	if diff := expect.Diff(t, `
metadata:
  namespace: llm
  name: maas-auth-chat
  labels:
    maas.opendatahub.io/model: chat
    app.kubernetes.io/managed-by: maas-controller
    app.kubernetes.io/part-of: maas-auth-policy
    app.kubernetes.io/component: auth-policy
  annotations: {maas.opendatahub.io/auth-policies: staff}
target: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: chat}
metadatas:
  apiKeyValidation:
    {priority: 0, cached: 60, conditions: 1, method: POST, url: "https://maas-api.app.svc.cluster.local:8443/internal/v1/api-keys/validate"}
  subscription-info:
    {priority: 1, cached: 60, method: POST, url: "https://maas-api.app.svc.cluster.local:8443/internal/v1/subscriptions/select"}
authentication:
  api-keys: {priority: 0, conditions: 1, details: {selector: request.headers.authorization}}
  kubernetes-tokens: {priority: 1, conditions: 2, details: {audiences: ["https://kubernetes.default.svc"]}}
authorization:
  auth-valid: {priority: 0, cached: 30}
  subscription-valid: {priority: 0, cached: 30}
  require-group-membership: {priority: 0, cached: 30}
headers: [Authorization, X-MaaS-Subscription]
properties:
- groups
- groups_str
- keyId
- selected_subscription
- selected_subscription_key
- subscription_error
- subscription_error_message
- subscription_info
- userid
unauthenticated: 401
unauthorized: 403
reasons: [body, x-ext-auth-reason]
`, summary(got)); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
}

// summary returns the compared parts of a policy.
func summary(object map[string]any) policy {
	part := func(path ...string) map[string]any {
		found, _, _ := unstructured.NestedMap(object, path...)
		return found
	}
	rules := func(section string) map[string]rule {
		out := map[string]rule{}
		for name, content := range part("spec", "rules", section) {
			content, _ := content.(map[string]any)
			r := rule{}
			r.Priority, _, _ = unstructured.NestedInt64(content, "priority")
			r.Cached, _, _ = unstructured.NestedInt64(content, "cache", "ttl")
			r.URL, _, _ = unstructured.NestedString(content, "http", "url")
			r.Method, _, _ = unstructured.NestedString(content, "http", "method")
			when, _, _ := unstructured.NestedSlice(content, "when")
			r.Conditions = len(when)
			for _, kind := range []string{"plain", "kubernetesTokenReview"} {
				if details, found, _ := unstructured.NestedMap(content, kind); found {
					r.Details = details
				}
			}
			out[name] = r
		}
		return out
	}
	response := func(path ...string) map[string]any {
		return part(append([]string{"spec", "rules", "response"}, path...)...)
	}
	keys := func(of map[string]any) []string { return slices.Sorted(maps.Keys(of)) }
	p := policy{
		Metadata: part("metadata"), Target: part("spec", "targetRef"),
		Metadatas: rules("metadata"), Authentication: rules("authentication"), Authorization: rules("authorization"),
		Headers: keys(response("success", "headers")), Properties: keys(response("success", "filters", "identity", "json", "properties")),
		Reasons: keys(response("unauthorized", "headers")),
	}
	if len(response("unauthorized", "body")) > 0 {
		p.Reasons = append([]string{"body"}, p.Reasons...)
	}
	p.Unauthenticated, _, _ = unstructured.NestedInt64(object, "spec", "rules", "response", "unauthenticated", "code")
	p.Unauthorized, _, _ = unstructured.NestedInt64(object, "spec", "rules", "response", "unauthorized", "code")
	return p
}
