package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/randomname"
)

// Objects returns the objects of the cluster for learning names.
func (w *Cluster) Objects() ([]randomname.Object, error) {
	all, err := w.All()
	if err != nil {
		return nil, err
	}
	var out []randomname.Object
	for gvk, items := range all {
		for key, u := range items {
			o := randomname.Object{Kind: gvk.GroupKind(), Key: key}
			if u.GetGenerateName() != "" {
				continue // the server has generated it
			}
			for _, ref := range u.GetOwnerReferences() {
				o.Owners = append(o.Owners, randomname.Owner{Kind: ref.Kind, Name: ref.Name})
			}
			content, _ := Normalise(u, Identities{}).(map[string]any)
			paths := map[string]bool{}
			pathsOf(content, "", paths)
			o.Shape = strings.ReplaceAll(strings.Join(slices.Sorted(maps.Keys(paths)), "\n"), key.Name, "*")
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b randomname.Object) int {
		return strings.Compare(a.Kind.String()+" "+types.NamespacedName.String(a.Key), b.Kind.String()+" "+types.NamespacedName.String(b.Key))
	})
	return out, nil
}

// pathsOf finds the fields of an object with a value, except for its status.
func pathsOf(value any, path string, found map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if path != "" || key != "status" {
				pathsOf(inner, path+"."+key, found)
			}
		}
	case []any:
		for n, inner := range v {
			pathsOf(inner, fmt.Sprintf("%s[%d]", path, n), found)
		}
	default:
		found[path] = true
	}
}

// ShownAs returns the canonical name of an object in requests.
func (w *Cluster) ShownAs(kind schema.GroupKind, key types.NamespacedName) string {
	name, _ := w.System.Names.Of(kind, key)
	return name
}
