package controller

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/sparse"
)

// keepSparsely makes the informers of kinds that no controller needs entirely store only the metadata of foreign objects.
func keepSparsely(scheme *runtime.Scheme, options *cache.Options, managers []string, controllers []cachedController) {
	sparsely := map[informed]bool{}
	ours := sparse.Ours{Has: func(object metav1.Object) bool { return mayBeOurs(object, managers) }}
	for _, c := range controllers {
		ours.Controllers = append(ours.Controllers, c.Kinds.Controller)
		for _, k := range c.Kinds.Installable() {
			as := informed{k.GroupVersionKind, k.Representation == declaration.Unstructured}
			if all, known := sparsely[as]; known && !all {
				continue
			}
			if k.Representation != declaration.Metadata {
				sparsely[as] = k.Sparse()
			}
		}
	}
	options.NewInformer = func(
		watched toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers,
	) toolscache.SharedIndexInformer {
		representation := declaration.RepresentationOf(example)
		kind, err := apiutil.GVKForObject(example, scheme)
		if err != nil || representation == declaration.Metadata || !sparsely[informed{kind, representation == declaration.Unstructured}] {
			return toolscache.NewSharedIndexInformer(watched, example, resync, indexers)
		}
		return sparse.NewInformer(watched, example, resync, indexers, kind, ours)
	}
}

// mayBeOurs reports whether the engine may need the entire object: it has the label of a child, one of the managers wrote
// it, or it has no managed fields.
func mayBeOurs(object metav1.Object, managers []string) bool {
	entries := object.GetManagedFields()
	if len(entries) == 0 || object.GetLabels()[apply.PartOfLabel] != "" {
		return true
	}
	return slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return slices.ContainsFunc(managers, func(m string) bool {
			return e.Manager == m || strings.HasPrefix(e.Manager, m+":") // the prefix of the field managers for contributions
		})
	})
}
