package apiserver

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	apiversion "k8s.io/apimachinery/pkg/version"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/plural"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/crdschema"
)

// Blueprint is the common part of all fake API servers of a system; building it takes longer than a run.
type Blueprint struct {
	mapper     *meta.DefaultRESTMapper
	converter  managedfields.TypeConverter
	kinds      []schema.GroupVersionKind
	cluster    map[schema.GroupVersionKind]bool
	namespaced map[schema.GroupVersionKind]bool // known only for kinds that are built in or defined
	withStatus map[schema.GroupVersionKind]bool
	schemas    map[schema.GroupVersionKind]*crdschema.Schema
	managers   sync.Map // managerKey to *managedfields.FieldManager
}

// NewBlueprint returns a blueprint of the kinds of the scheme and of the definitions. Kinds of the scheme that are neither defined nor
// built in are namespaced, with a status subresource.
func NewBlueprint(scheme *runtime.Scheme, definitions []*apiextensionsv1.CustomResourceDefinition) (*Blueprint, error) {
	defined := crdKinds(definitions)
	converter, err := newConverters(defined)
	if err != nil {
		return nil, err
	}
	b := &Blueprint{
		mapper: meta.NewDefaultRESTMapper(preferred(scheme, defined)), converter: converter, cluster: map[schema.GroupVersionKind]bool{},
		namespaced: map[schema.GroupVersionKind]bool{},
		withStatus: map[schema.GroupVersionKind]bool{},
		schemas:    map[schema.GroupVersionKind]*crdschema.Schema{},
	}
	known := map[schema.GroupVersionKind]bool{}
	for _, k := range defined {
		known[k.gvk] = true
		b.kinds = append(b.kinds, k.gvk)
		b.cluster[k.gvk], b.namespaced[k.gvk] = k.cluster, !k.cluster
		if k.structure != nil {
			if b.schemas[k.gvk], err = crdschema.New(k.structure); err != nil {
				return nil, fmt.Errorf("fake API server: %s: %w", k.gvk, err)
			}
		}
		if k.status {
			b.withStatus[k.gvk] = true
		}
		b.addMapping(k.gvk, k.plural)
	}
	for gvk := range scheme.AllKnownTypes() {
		if known[gvk] || gvk.Version == runtime.APIVersionInternal || isList(gvk.Kind) || !isObject(scheme, gvk) {
			continue
		}
		b.kinds = append(b.kinds, gvk)
		b.cluster[gvk] = isClusterScoped(gvk)
		b.namespaced[gvk] = !b.cluster[gvk] && clientgoscheme.Scheme.Recognizes(gvk)
		b.addMapping(gvk, plural.Of(gvk.Kind))
		if !clientgoscheme.Scheme.Recognizes(gvk) || hasStatus(gvk) {
			b.withStatus[gvk] = true
		}
	}
	return b, nil
}

// addMapping maps a kind to its resource.
func (b *Blueprint) addMapping(gvk schema.GroupVersionKind, resource string) {
	gv := gvk.GroupVersion()
	b.mapper.AddSpecific(gvk, gv.WithResource(resource), gv.WithResource(strings.ToLower(gvk.Kind)), scope(b.cluster[gvk]))
}

// Enum returns the values that the definition of a kind allows for the field at a path; none if it has no enum.
func (b *Blueprint) Enum(gvk schema.GroupVersionKind, path []string) []any {
	if b == nil || b.schemas[gvk] == nil {
		return nil
	}
	return b.schemas[gvk].Enum(path)
}

// preferred lists the versions of all groups, the server's preferred version first: it is the mapping of a kind without a version, as the
// prune of retired kinds uses.
func preferred(scheme *runtime.Scheme, defined []crdKind) []schema.GroupVersion {
	var versions []schema.GroupVersion
	for gvk := range scheme.AllKnownTypes() {
		versions = append(versions, gvk.GroupVersion())
	}
	for _, k := range defined {
		versions = append(versions, k.gvk.GroupVersion())
	}
	slices.SortFunc(versions, func(a, b schema.GroupVersion) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), apiversion.CompareKubeAwareVersionStrings(b.Version, a.Version))
	})
	return slices.DeleteFunc(slices.Compact(versions), func(v schema.GroupVersion) bool { return v.Version == runtime.APIVersionInternal })
}

func scope(cluster bool) meta.RESTScope {
	if cluster {
		return meta.RESTScopeRoot
	}
	return meta.RESTScopeNamespace
}

func isObject(scheme *runtime.Scheme, gvk schema.GroupVersionKind) bool {
	obj, err := scheme.New(gvk)
	if err != nil {
		return false
	}
	_, ok := obj.(client.Object)
	return ok
}

// isClusterScoped reports whether a kind is a built-in cluster-scoped one.
func isClusterScoped(gvk schema.GroupVersionKind) bool {
	switch gvk.Group {
	case "":
		return slices.Contains([]string{"Namespace", "Node", "PersistentVolume", "ComponentStatus"}, gvk.Kind)
	case "storage.k8s.io":
		return gvk.Kind != "CSIStorageCapacity"
	case "rbac.authorization.k8s.io":
		return strings.HasPrefix(gvk.Kind, "Cluster")
	case "networking.k8s.io":
		return slices.Contains([]string{"IngressClass", "IPAddress", "ServiceCIDR"}, gvk.Kind)
	case "gateway.networking.k8s.io":
		return gvk.Kind == "GatewayClass"
	case "authorization.k8s.io":
		return gvk.Kind != "LocalSubjectAccessReview"
	case "scheduling.k8s.io":
		return gvk.Kind == "PriorityClass"
	case "certificates.k8s.io":
		return gvk.Kind != "PodCertificateRequest"
	case "resource.k8s.io":
		return !strings.HasPrefix(gvk.Kind, "ResourceClaim")
	case "apiextensions.k8s.io", "admissionregistration.k8s.io", "authentication.k8s.io", "node.k8s.io",
		"flowcontrol.apiserver.k8s.io", "apiregistration.k8s.io", "internal.apiserver.k8s.io", "storagemigration.k8s.io":
		return true
	}
	return false
}

// hasStatus reports whether a built-in kind has a status subresource: those with a status, except reviews, which are responses to a
// create.
func hasStatus(gvk schema.GroupVersionKind) bool {
	if gvk.Group == "authentication.k8s.io" || gvk.Group == "authorization.k8s.io" {
		return false
	}
	obj, err := clientgoscheme.Scheme.New(gvk)
	return err == nil && reflect.Indirect(reflect.ValueOf(obj)).FieldByName("Status").IsValid()
}
