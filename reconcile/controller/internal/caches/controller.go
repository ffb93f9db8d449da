package caches

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// Controller is what the cache needs of a controller.
type Controller struct {
	Kinds    *declaration.Catalogue
	Managers []string                // the field managers whose entries the cache has to keep whole
	Failed   *observe.ListFailures   // takes why a kind could not be listed
	Share    func(*shards.Informers) // takes the informers of the owners that ask for those of the shard alone, nil for those that ask for all
}

// informed is what has an informer of its own.
type informed struct {
	schema.GroupVersionKind
	unstructured bool
}
