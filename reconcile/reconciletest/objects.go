package reconciletest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// equalJSON compares decoded JSON; nil and empty are the same.
func equalJSON(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

func labelSet(u *unstructured.Unstructured) labels.Set { return labels.Set(u.GetLabels()) }

// sortedKeys are the keys of objects by namespace and name.
func sortedKeys[V any](items map[types.NamespacedName]V) []types.NamespacedName {
	keys := make([]types.NamespacedName, 0, len(items))
	for key := range items {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, compareKeys)
	return keys
}

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// listedKind is the kind of the elements of a list.
func listedKind(list client.ObjectList, scheme *runtime.Scheme) (schema.GroupVersionKind, error) {
	gvk, err := apiutil.GVKForObject(list, scheme)
	if err != nil {
		return gvk, err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	return gvk, nil
}

// compareKinds orders kinds by group, version and kind.
func compareKinds(a, b schema.GroupVersionKind) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
}

// objectName prints an object as people write it: kind, then namespace and name.
func objectName(gvk schema.GroupVersionKind, key types.NamespacedName) string {
	kind := gvk.Kind
	if gvk.Group != "" {
		kind += "." + gvk.Group
	}
	if key.Namespace == "" {
		return fmt.Sprintf("%s %s", kind, key.Name)
	}
	return fmt.Sprintf("%s %s/%s", kind, key.Namespace, key.Name)
}
