package engine

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/kinds"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// groupChildKind returns how the children of the kind are read from the cache.
func groupChildKind(p *pass.Pass, gk schema.GroupKind) (*kinds.Kind, error) {
	kinds := p.Group.ChildKinds()
	at := slices.IndexFunc(kinds, func(gvk schema.GroupVersionKind) bool { return gvk.GroupKind() == gk })
	return p.Env.Kinds.OfGVK(kinds[at])
}
