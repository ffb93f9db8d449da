package compare

import (
	"reflect"
	"strconv"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// knownDefault is a value that the server fills in inside something that is
// owned as a whole, so that it is not visible whose it is. Dropping a field
// whose value is its default changes nothing, which is what makes it safe to
// ignore the difference. Sources: the defaults in the API reference of
// Kubernetes, and the schema of Gateway API v1.
type knownDefault struct {
	// in is the field that holds the value's map; empty means any.
	in    string
	value any
}

// knownDefaults are the defaults for a field name.
func knownDefaults(name string) []knownDefault {
	if defaults := gatewayDefaults(name); defaults != nil {
		return defaults
	}
	switch name {
	case "apiVersion":
		return []knownDefault{{in: "fieldRef", value: "v1"}, {in: claimTemplates, value: "v1"}}
	case "kind":
		return []knownDefault{
			{in: claimTemplates, value: "PersistentVolumeClaim"},
			{in: "parentRefs", value: "Gateway"},
			{in: "backendRefs", value: "Service"},
			{in: "backendRef", value: "Service"},
		}
	case "protocol":
		return []knownDefault{{value: "TCP"}}
	case "divisor":
		return []knownDefault{{in: "resourceFieldRef", value: "0"}}
	case "volumeMode":
		return []knownDefault{{in: "spec", value: "Filesystem"}}
	case "expirationSeconds":
		return []knownDefault{{in: "serviceAccountToken", value: int64(3600)}}
	case "defaultMode":
		return []knownDefault{{value: int64(420)}}
	case "status":
		return []knownDefault{
			{in: claimTemplates, value: map[string]any{"phase": "Pending"}}, {in: "onPodConditions", value: "True"},
		}
	case "apiGroup":
		return []knownDefault{{in: "roleRef", value: rbacGroup}, {in: "subjects", value: rbacGroup}, {in: "subjects", value: ""}}
	case "scope":
		return []knownDefault{{in: "rules", value: "*"}}
	}
	return nil
}

const (
	claimTemplates = "volumeClaimTemplates"
	rbacGroup      = "rbac.authorization.k8s.io"
)

// gatewayDefaults are those of routes, besides the kind.
func gatewayDefaults(name string) []knownDefault {
	switch name {
	case "group":
		return []knownDefault{
			{in: "parentRefs", value: "gateway.networking.k8s.io"}, {in: "backendRefs", value: ""}, {in: "backendRef", value: ""},
		}
	case "weight":
		return []knownDefault{{in: "backendRefs", value: int64(1)}}
	case "matches":
		return []knownDefault{{in: "rules", value: []any{map[string]any{"path": anyPath()}}}}
	case "path":
		return []knownDefault{{in: "matches", value: anyPath()}}
	case "type":
		return []knownDefault{{in: "path", value: "PathPrefix"}, {in: "headers", value: "Exact"}, {in: "queryParams", value: "Exact"}}
	case "value":
		return []knownDefault{{in: "path", value: "/"}}
	case "statusCode":
		return []knownDefault{{in: "requestRedirect", value: int64(302)}}
	}
	return nil
}

func anyPath() map[string]any { return map[string]any{"type": "PathPrefix", "value": "/"} }

// isDefault says whether value is what the server fills in for name in a map
// held by field.
func isDefault(field, name string, value any) bool {
	for _, d := range knownDefaults(name) {
		if d.in != "" && d.in != field {
			continue
		}
		if reflect.DeepEqual(d.value, value) || content.EqualScalars(d.value, value) {
			return true
		}
	}
	return false
}

func formatFloat(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
