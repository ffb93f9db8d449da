package authpolicy

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

// rules makes the rules of the AuthPolicy of one model.
type rules struct {
	backend.Config
	model         types.NamespacedName
	groups, users []string // sorted
	audience      string
	oidc          *maasv1alpha1.TenantExternalOIDC
}

type object = map[string]any

// Expressions on the request and on what the policy has found out about it.
const (
	listsModels  = `request.path.endsWith("/v1/models")`
	token        = `request.headers.authorization.replace("Bearer ", "")`
	keyValid     = `(has(auth.metadata) && has(auth.metadata.apiKeyValidation) && auth.metadata.apiKeyValidation.valid == true)`
	username     = keyValid + ` ? auth.metadata.apiKeyValidation.username : (has(auth.identity.user) ? auth.identity.user.username : auth.identity.preferred_username)`
	groups       = keyValid + ` ? auth.metadata.apiKeyValidation.groups : (has(auth.identity.user) ? auth.identity.user.groups : auth.identity.groups)`
	userID       = keyValid + ` ? auth.metadata.apiKeyValidation.userId : (has(auth.identity.user) ? auth.identity.user.username : auth.identity.sub)`
	keyID        = keyValid + ` ? auth.metadata.apiKeyValidation.keyId : ""`
	requested    = keyValid + ` ? auth.metadata.apiKeyValidation.subscription : ("x-maas-subscription" in request.headers ? request.headers["x-maas-subscription"] : "")`
	hasInfo      = `(has(auth.metadata) && has(auth.metadata["subscription-info"]))`
	subscription = `auth.metadata["subscription-info"]`
)

// content is the rules as the AuthPolicy has them.
func (r rules) content() object {
	return object{
		"metadata": r.metadata(), "authentication": r.authentication(), "authorization": r.authorization(), "response": r.response(),
	}
}

func expression(text string) object { return object{"expression": text} }

func cache(key string, ttl int64) object {
	return object{"key": expression(key), "ttl": ttl}
}

// cacheKey tells answers for different users, subscriptions and models apart.
func (r rules) cacheKey() string {
	return fmt.Sprintf(`(%s) + "|" + (%s).map(g, string(g)).join(",") + "|" + (%s) + "|%s"`, userID, groups, requested, r.model)
}

// metadata asks the API of the platform about the key and the subscription.
func (r rules) metadata() object {
	url := "https://maas-api." + r.AppNamespace + ".svc.cluster.local:8443/internal/v1/"
	post := func(path, body string) object {
		return object{"url": url + path, "method": "POST", "contentType": "application/json", "body": expression(body)}
	}
	choose := fmt.Sprintf(`{"groups": %s, "username": %s, "requestedSubscription": %s, "requestedModel": "%s"}`,
		groups, username, requested, r.model)
	return object{
		"apiKeyValidation": object{
			"when": backend.When(backend.IsKey), "http": post("api-keys/validate", `{"key": `+token+`}`),
			"cache": cache(token, r.MetadataTTL), "metrics": false, "priority": int64(0),
		},
		"subscription-info": object{
			"http": post("subscriptions/select", choose), "cache": cache(r.cacheKey(), r.MetadataTTL),
			"metrics": false, "priority": int64(1),
		},
	}
}

// authentication lets keys in everywhere, and tokens where models are listed.
func (r rules) authentication() object {
	identities := object{
		"api-keys": object{
			"when": backend.When(backend.IsKey), "plain": object{"selector": "request.headers.authorization"}, "metrics": false, "priority": int64(0),
		},
		"kubernetes-tokens": object{
			"when":                  backend.When("!("+backend.IsKey+")", listsModels),
			"kubernetesTokenReview": object{"audiences": []any{r.audience}}, "metrics": false, "priority": int64(1),
		},
	}
	if r.oidc != nil {
		identities["oidc-identities"] = object{
			"when": backend.When("!("+backend.IsKey+")", listsModels, backend.IsJWT),
			"jwt":  object{"issuerUrl": r.oidc.IssuerURL, "ttl": int64(r.oidc.TTL)}, "metrics": false, "priority": int64(2),
		}
	}
	return identities
}

// authorization asks for a valid identity, a subscription that works, and a
// subject of the auth policies.
func (r rules) authorization() object {
	ttl := max(0, min(r.AuthzTTL, r.MetadataTTL))
	opa := func(rego string) object {
		return object{"opa": object{"rego": rego}, "cache": cache(r.cacheKey(), ttl), "metrics": false, "priority": int64(0)}
	}
	return object{
		"auth-valid": opa(`allow { object.get(input.auth.metadata, "apiKeyValidation", {}).valid == true }
allow { input.auth.identity.user.username != "" }
` + r.boundClient()),
		"subscription-valid": opa(`info := object.get(input.auth.metadata, "subscription-info", {})
allow {
  object.get(info, "name", "") != ""
  object.get(info, "error", "") == ""
  {"Active", "Degraded"}[object.get(info, "phase", "")]
  not object.get(info, "deletionTimestamp", null)
}
`),
		"require-group-membership": opa(`allowed_groups := ` + list(r.groups) + `
allowed_users := ` + list(r.users) + `
key := object.get(input.auth.metadata, "apiKeyValidation", {})
user := object.get(input.auth.identity, "user", {})
username := key.username { key.valid == true } else := user.username { user.username } else := input.auth.identity.preferred_username
groups := key.groups { key.valid == true } else := user.groups { user.groups } else := input.auth.identity.groups
allow { username == allowed_users[_] }
allow { groups[_] == allowed_groups[_] }
`),
	}
}

// boundClient lets tokens of the identity provider in that were made for our
// client. Kuadrant's AuthPolicy has no field for audiences.
func (r rules) boundClient() string {
	if r.oidc == nil {
		return ""
	}
	id, _ := json.Marshal(r.oidc.ClientID) //nolint:errchkjson // a string always has JSON
	return fmt.Sprintf("allow { input.auth.identity.azp == %s }\nallow { input.auth.identity.aud == %s }\nallow { input.auth.identity.aud[_] == %s }\n", id, id, id)
}

// list renders names as JSON, which rego reads; never as null.
func list(names []string) string {
	if len(names) == 0 {
		return "[]"
	}
	text, _ := json.Marshal(names) //nolint:errchkjson // strings always have JSON
	return string(text)
}

// response hides who the user is from the model, and tells limits and metrics.
func (r rules) response() object {
	info := func(field, fallback string) string {
		return fmt.Sprintf(`%s && has(%s.%s) ? %s.%s : %s`, hasInfo, subscription, field, subscription, field, fallback)
	}
	key := fmt.Sprintf(`%s && has(%s.name) ? %s.namespace + "/" + %s.name + "@%s" : ""`, hasInfo, subscription, subscription, subscription, r.model)
	properties := object{
		"groups":                     expression(groups),
		"groups_str":                 expression("(" + groups + `).map(g, string(g)).join(",")`),
		"userid":                     expression(userID),
		"keyId":                      expression(keyID),
		"selected_subscription":      expression(info("name", `""`)),
		"selected_subscription_key":  expression(key),
		"subscription_info":          expression(hasInfo + " ? " + subscription + " : {}"),
		"subscription_error":         expression(info("error", `""`)),
		"subscription_error_message": expression(info("message", `""`)),
	}
	reason := info("message", `"access denied"`)
	return object{
		"success": object{
			"headers": object{
				"Authorization":       object{"key": "authorization", "plain": object{"value": ""}, "metrics": false, "priority": int64(0)},
				"X-MaaS-Subscription": object{"plain": expression(info("name", `""`)), "metrics": false, "priority": int64(0)},
			},
			"filters": object{"identity": object{"json": object{"properties": properties}, "metrics": true, "priority": int64(0)}},
		},
		"unauthenticated": object{"code": int64(401), "message": object{"value": "Authentication required"}},
		"unauthorized": object{
			"code": int64(403), "body": expression(reason), "headers": object{"x-ext-auth-reason": expression(reason)},
		},
	}
}
