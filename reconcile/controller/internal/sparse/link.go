package sparse

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Link connects a kind of a controller with its informers. The informers ask the link for the objects that the controller needs. The link
// passes the results of live reads to them. A nil Link has no informers.
type Link struct {
	controller string
	wanted     func(object client.Object) bool

	mu        sync.Mutex
	informers []*Informer
}

// NewLink returns a link of a controller. An informer calls wanted for each object that does not belong to a controller; wanted reports
// whether the controller needs it.
func NewLink(controller string, wanted func(object client.Object) bool) *Link {
	return &Link{controller: controller, wanted: wanted}
}

// join links an informer.
func (l *Link) join(i *Informer) {
	l.mu.Lock()
	l.informers = append(slices.DeleteFunc(slices.Clone(l.informers), func(other *Informer) bool { return other == i || other.IsStopped() }), i)
	l.mu.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	if !slices.Contains(i.links, l) {
		i.links = append(slices.Clip(i.links), l)
	}
}

// joined returns the informers that keep the kind sparsely.
func (l *Link) joined() []*Informer {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.informers
}

// Sparse reports whether a cache of the kind keeps only the metadata of some objects.
func (l *Link) Sparse() bool { return len(l.joined()) > 0 }

// Known reports whether the informers were created for the controller and therefore keep its objects in full: [OursField] then lists all
// of them.
func (l *Link) Known() bool {
	informers := l.joined()
	return len(informers) > 0 && !slices.ContainsFunc(informers, func(i *Informer) bool { return !slices.Contains(i.controllers, l.controller) })
}

// MetadataOnly reports whether the store has only the metadata of an object, regardless of kept copies.
func (l *Link) MetadataOnly(key types.NamespacedName) bool {
	informers := l.joined()
	if len(informers) == 0 {
		return false
	}
	text := key.Name
	if key.Namespace != "" {
		text = key.Namespace + "/" + key.Name
	}
	return slices.ContainsFunc(informers, func(i *Informer) bool {
		item, _, _ := i.SharedIndexInformer.GetIndexer().GetByKey(text) // a read from memory, which cannot fail
		_, only := item.(*metadataOnly)
		return only
	})
}

// Unread drops the objects that no owner reads any more.
func (l *Link) Unread() {
	for _, i := range l.joined() {
		i.sweep()
	}
}
