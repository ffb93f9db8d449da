package fieldset

import (
	"reflect"
	"slices"
)

// defaultsOf returns the values that the server fills in for a field of exactly this struct. Removing a field whose value is its default
// changes nothing. It only has unconditional defaults inside values that are owned as a whole, because managedFields do not show the owner
// of a default there. Sources: the API reference of Kubernetes, and the schema of Gateway API v1.
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

// Selecting returns a path into objects of the kind that also selects items without a key whose default is the wanted value, such as the
// protocol of a port.
func (s Schema) Selecting(path Path) Path {
	return withDefaults(path, func(list Path, key, value string) bool {
		return s.Below(list).elem().isDefault(key, value)
	})
}

// isDefault reports whether the server fills in the value for a missing field.
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
