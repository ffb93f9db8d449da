package fieldset

import (
	"reflect"
	"slices"
)

// defaultsOf are the values that the server fills in for a field of exactly this
// struct. Dropping a field whose value is its default changes nothing. Only
// unconditional defaults are here, and only those inside values that are owned
// as a whole, where it is not visible whose a default is. Sources: the defaults
// in the API reference of Kubernetes, and the schema of Gateway API v1.
func defaultsOf(in reflect.Type, field string) []any {
	return defaults[defaultField{in.PkgPath() + "." + in.Name(), field}]
}

type defaultField struct{ goType, field string }

const (
	core      = "k8s.io/api/core/v1."
	rbac      = "k8s.io/api/rbac/v1."
	gateway   = gatewayPackage + "."
	rbacGroup = "rbac.authorization.k8s.io"
)

var defaults = map[defaultField][]any{ //nolint:gochecknoglobals // a table
	{core + "ContainerPort", "protocol"}:                                     {"TCP"},
	{core + "ServicePort", "protocol"}:                                       {"TCP"},
	{"k8s.io/api/networking/v1.NetworkPolicyPort", "protocol"}:               {"TCP"},
	{core + "ObjectFieldSelector", "apiVersion"}:                             {"v1"},
	{core + "PersistentVolumeClaimSpec", "volumeMode"}:                       {"Filesystem"},
	{core + "PersistentVolumeClaim", "status"}:                               {map[string]any{"phase": "Pending"}},
	{core + "PersistentVolumeClaim", "apiVersion"}:                           {"v1"},
	{core + "PersistentVolumeClaim", "kind"}:                                 {"PersistentVolumeClaim"},
	{core + "ServiceAccountTokenProjection", "expirationSeconds"}:            {int64(3600)},
	{core + "SecretVolumeSource", "defaultMode"}:                             {int64(420)},
	{core + "ConfigMapVolumeSource", "defaultMode"}:                          {int64(420)},
	{core + "ProjectedVolumeSource", "defaultMode"}:                          {int64(420)},
	{core + "DownwardAPIVolumeSource", "defaultMode"}:                        {int64(420)},
	{rbac + "RoleRef", "apiGroup"}:                                           {rbacGroup},
	{rbac + "Subject", "apiGroup"}:                                           {rbacGroup},
	{"k8s.io/api/admissionregistration/v1.Rule", "scope"}:                    {"*"},
	{"k8s.io/api/batch/v1.PodFailurePolicyOnPodConditionsPattern", "status"}: {"True"},
	{gateway + "ParentReference", "group"}:                                   {"gateway.networking.k8s.io"},
	{gateway + "ParentReference", "kind"}:                                    {"Gateway"},
	{gateway + "BackendObjectReference", "group"}:                            {""},
	{gateway + "BackendObjectReference", "kind"}:                             {"Service"},
	{gateway + "BackendRef", "weight"}:                                       {int64(1)},
	{gateway + "HTTPRouteRule", "matches"}:                                   {[]any{map[string]any{"path": anyPath()}}},
	{gateway + "HTTPRouteMatch", "path"}:                                     {anyPath()},
	{gateway + "HTTPPathMatch", "type"}:                                      {"PathPrefix"},
	{gateway + "HTTPPathMatch", "value"}:                                     {"/"},
	{gateway + "HTTPHeaderMatch", "type"}:                                    {"Exact"},
	{gateway + "HTTPQueryParamMatch", "type"}:                                {"Exact"},
	{gateway + "HTTPRequestRedirectFilter", "statusCode"}:                    {int64(302)},
}

func anyPath() map[string]any { return map[string]any{"type": "PathPrefix", "value": "/"} }

// Selecting is a path into objects of the kind, which also selects items that
// leave the default of a key out, such as the protocol of a port.
func (s Schema) Selecting(path Path) Path {
	return withDefaults(path, func(list Path, key, value string) bool {
		return s.Below(list).elem().isDefault(key, value)
	})
}

// isDefault reports whether value is what the server fills in for a field that
// is left out.
func (s Schema) isDefault(field string, value any) bool {
	if s.source != sourceServer && s.source != sourceGateway {
		return false
	}
	t := s.plain()
	if t == nil {
		return false
	}
	f, known := fieldsOf(t)[field]
	return known && slices.ContainsFunc(defaultsOf(f.in, field), func(d any) bool { return equalJSON(Schema{}, d, value) })
}
