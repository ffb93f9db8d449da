package apiserver

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// selects reports whether a request is about an object.
type selects func(key types.NamespacedName, u *unstructured.Unstructured) bool

// selection parses the options of a list, a watch or a deletecollection: namespace, labels, and the field selectors that every kind
// supports.
func selection(opts []client.ListOption) (selects, error) {
	options := client.ListOptions{}
	options.ApplyOptions(opts)
	if options.FieldSelector != nil {
		for _, one := range options.FieldSelector.Requirements() {
			if one.Field != "metadata.name" && one.Field != "metadata.namespace" {
				return nil, apierrors.NewBadRequest("field label not supported: " + one.Field)
			}
		}
	}
	return func(key types.NamespacedName, u *unstructured.Unstructured) bool {
		if options.Namespace != "" && key.Namespace != options.Namespace ||
			options.LabelSelector != nil && !options.LabelSelector.Matches(objects.Labels(u)) {
			return false
		}
		matches, err := objects.MatchesFields(options.FieldSelector, func(name string) ([]string, error) {
			if name == "metadata.namespace" {
				return []string{key.Namespace}, nil
			}
			return []string{key.Name}, nil
		})
		return matches && err == nil
	}, nil
}

func isList(kind string) bool { return strings.HasSuffix(kind, "List") }
