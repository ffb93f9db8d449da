package tenant

import (
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/manifests"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

type object = map[string]any

const (
	isBound = `has(auth.identity.azp)`
	hasKey  = `has(auth.metadata) && has(auth.metadata.apiKeyValidation)`
)

// addProvider lets tokens of the identity provider in, those that were made for
// our client, and the cluster's own after them.
func (s settings) addProvider(policy *unstructured.Unstructured) error {
	if s.OIDC == nil {
		return nil
	}
	rules, ok, err := unstructured.NestedMap(policy.Object, "spec", "rules")
	if err != nil || !ok {
		return errors.Join(fmt.Errorf("AuthPolicy %s has no spec.rules", apiPolicy), err)
	}
	expression := func(of, claim string) object {
		return object{"plain": object{"expression": fmt.Sprintf("%s ? auth.metadata.apiKeyValidation.%s : (%s ? auth.identity.%s : auth.identity.user.%s)",
			hasKey, of, isBound, claim, of)}}
	}
	for path, value := range map[[3]string]any{
		{"authentication", "oidc-identities", ""}: object{
			"when": backend.When("!"+backend.IsKey, backend.IsJWT), "jwt": object{"issuerUrl": s.OIDC.IssuerURL, "ttl": int64(s.OIDC.TTL)}, "priority": int64(1),
		},
		{"authentication", "openshift-identities", "priority"}: int64(2),
		{"authentication", "openshift-identities", "when"}:     backend.When("!"+backend.IsKey, "!"+backend.IsJWT+` || request.headers.authorization.startsWith("Bearer sha256~")`),
		{"authorization", "oidc-client-bound", ""}: object{
			"when":            backend.When(isBound),
			"patternMatching": object{"patterns": []any{object{"selector": "auth.identity.azp", "operator": "eq", "value": s.OIDC.ClientID}}},
			"priority":        int64(0),
		},
	} {
		fields := path[:]
		if path[2] == "" {
			fields = path[:2]
		}
		err = errors.Join(err, unstructured.SetNestedField(rules, value, fields...))
	}
	headers := []string{"response", "success", "headers"}
	err = errors.Join(err,
		unstructured.SetNestedField(rules, any(expression("username", "preferred_username")), append(headers[:3:3], "X-MaaS-Username")...),
		unstructured.SetNestedField(rules, any(expression("groups", "groups")), append(headers[:3:3], "X-MaaS-Group")...),
		unstructured.SetNestedMap(policy.Object, rules, "spec", "rules"))
	return err
}

// telemetry counts by subscription, and by what else the tenant asks for.
func (s settings) telemetry() []manifests.Object {
	if s.Telemetry == nil || !ptr.Deref(s.Telemetry.Enabled, true) {
		return nil
	}
	labels := object{"subscription": "auth.identity.selected_subscription", "cost_center": "auth.identity.subscription_info.costCenter"}
	metrics := ptr.Deref(s.Telemetry.Metrics, maasv1alpha1.TenantMetrics{})
	if ptr.Deref(metrics.CaptureOrganization, true) {
		labels["organization_id"] = "auth.identity.subscription_info.organizationId"
	}
	if ptr.Deref(metrics.CaptureModelUsage, true) {
		labels["model"] = `responseBodyJSON("/model")`
	}
	if ptr.Deref(metrics.CaptureUser, false) {
		labels["user"] = "auth.identity.userid"
	}
	if ptr.Deref(metrics.CaptureGroup, false) {
		labels["group"] = "auth.identity.groups_str"
	}
	gateway := object{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": s.Gateway.Name}
	return []manifests.Object{
		backend.New(telemetryPolicy, backend.Key(s.Gateway.Namespace, "maas-telemetry"), nil, object{
			"targetRef": gateway, "metrics": object{"default": object{"labels": labels}},
		}),
		backend.New(telemetry, backend.Key(s.Gateway.Namespace, "latency-per-subscription"), nil, object{
			"targetRefs": []any{gateway},
			"metrics": []any{object{
				"providers": []any{object{"name": "prometheus"}},
				"overrides": []any{object{
					"match":        object{"metric": "REQUEST_DURATION", "mode": "CLIENT_AND_SERVER"},
					"tagOverrides": object{"subscription": object{"operation": "UPSERT", "value": `request.headers["x-maas-subscription"]`}},
				}},
			}},
		}),
	}
}
