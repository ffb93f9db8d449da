package sparse

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Link ties a kind of a controller to the informers that it listens to: they ask it what the controller needs, and it gives them what was read
// live. A nil Link has no informers.
type Link struct {
	controller string
	wanted     func(object client.Object) bool

	mu        sync.Mutex
	informers []*Informer
}

// NewLink returns a link of a controller that needs what wanted reports of, which is called for each object of others that the informers get.
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

// joined are the informers that keep the kind sparsely.
func (l *Link) joined() []*Informer {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.informers
}

// Sparse reports whether the caches of the kind keep of some objects the metadata only.
func (l *Link) Sparse() bool { return len(l.joined()) > 0 }

// Known reports whether the informers keep whole what is of the controller, because it is one of those that they were made for: [OursField] then
// lists all of that.
func (l *Link) Known() bool {
	informers := l.joined()
	return len(informers) > 0 && !slices.ContainsFunc(informers, func(i *Informer) bool { return !slices.Contains(i.controllers, l.controller) })
}

// MetadataOnly reports whether the store has of an object the metadata only, whatever is kept beside it.
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
		item, _, _ := i.SharedIndexInformer.GetIndexer().GetByKey(text) // a look into memory, which has no error
		_, only := item.(*metadataOnly)
		return only
	})
}

// Unread gives back what is kept of objects that nobody reads any more.
func (l *Link) Unread() {
	for _, i := range l.joined() {
		i.sweep()
	}
}
