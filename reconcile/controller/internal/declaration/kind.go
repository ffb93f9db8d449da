package declaration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/sparse"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// representation is the form in which the cache keeps a kind. Each form has a separate informer, so a kind is declared in one form only.
type representation string

const (
	typed        representation = "typed"
	Unstructured representation = "unstructured"
	Metadata     representation = "metadata"
	Virtual      representation = "group" // of a group, which no cache has
)

// RepresentationOf returns the representation of the object's Go type in a cache.
func RepresentationOf(object runtime.Object) representation {
	switch object.(type) {
	case runtime.Unstructured:
		return Unstructured
	case groupkey.Group:
		return Virtual
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return Metadata
	default:
		return typed
	}
}

// Kind is a declared kind with all its declarations.
type Kind struct {
	schema.GroupVersionKind
	Representation representation
	Object         client.Object // an example object, immutable
	Declarations   []Declaration // in the order of the builder
	Filter         *Filter
	When           []predicate.Predicate
	Optional       bool   // its CRD may be missing
	Resource       string // its plural, if irregular
	Fields         map[string]client.IndexerFunc
	Derives        []Derivation
	Inspect        func(client.Object) health.Component // of children; nil is that of package inspect
	Shared         shards.Selection                     // the objects in the cache of this process; zero means all
	Owners         *Filter                              // selects the owners; nil means all
	Where          []Condition                          // selects owners in addition to Owners
	Finalizer      string                               // of the controller, on owners

	Link    *sparse.Link // to its informers; nil if the kind is cached in full
	Index   *tracking.Index
	Cluster atomic.Bool // the kind is cluster-scoped
	Absent  atomic.Bool // the kind is optional and its CRD is missing
	// Undiscovered is the error of the discovery of an absent kind: it is not known whether the kind is installed. Nil for none.
	Undiscovered atomic.Pointer[UndiscoveredError]
	// Appeared counts how often the CRD of an optional kind was installed.
	Appeared atomic.Uint64
	Seen     Observed
	Panics   Panics // of functions that run when an object of the kind changes

	unfiltered sync.Once // logs once that the filter was not installed
}

// Has reports whether the kind was declared for one of the purposes.
func (k *Kind) Has(purposes ...Purpose) bool {
	return slices.ContainsFunc(k.Declarations, func(d Declaration) bool { return slices.Contains(purposes, d.Purpose) })
}

// HasStatus reports whether objects of the kind have a status, as far as their Go type shows.
func (k *Kind) HasStatus() bool {
	of := reflect.TypeOf(k.Object)
	if k.Representation != typed || of.Kind() != reflect.Pointer || of.Elem().Kind() != reflect.Struct {
		return true
	}
	_, found := of.Elem().FieldByName("Status")
	return found
}

// Inspected reports whether the engine reports the health of children of the kind: those that the owner controls, if they have a
// status, and those with an inspector.
func (k *Kind) Inspected() bool {
	return k.Inspect != nil || k.Has(PurposeOwns) && k.HasStatus()
}

// CheckFilter logs, once, that the cache has an object that the filter excludes: the manager was created without [CacheOptions].
func (k *Kind) CheckFilter(logger logr.Logger, object client.Object) {
	if k.Filter == nil || k.Filter.Matches(client.ObjectKeyFromObject(object), labels.Set(object.GetLabels())) {
		return
	}
	k.unfiltered.Do(func() {
		logger.Error(nil, "the filter of the kind is not installed: the cache holds all its objects, and reads find them; "+
			"make the manager with the cache options that CacheOptions returns for this controller",
			"kind", Print(k.GroupVersionKind), "filter", k.Filter.String(), "found", client.ObjectKeyFromObject(object))
	})
}

// Name returns the key of the object at the API server: a cluster-scoped kind ignores the namespace.
func (k *Kind) Name(key client.ObjectKey) types.NamespacedName {
	if k.Cluster.Load() {
		key.Namespace = ""
	}
	return key
}

// Field returns the values of a field of the object, and whether they can be determined.
func (k *Kind) Field(object client.Object, name string) (values []string, known bool) {
	switch name {
	case "metadata.name":
		return []string{object.GetName()}, true
	case "metadata.namespace":
		return []string{object.GetNamespace()}, true
	}
	if extract := k.Fields[name]; extract != nil {
		return extract(object), true
	}
	return nil, false
}

// IndexFields adds the indexes of the kind to the cache.
func (k *Kind) IndexFields(ctx context.Context, indexer client.FieldIndexer) error {
	for _, name := range slices.Sorted(maps.Keys(k.Fields)) {
		if err := indexer.IndexField(ctx, k.Object, name, k.Fields[name]); err != nil {
			return fmt.Errorf("index field %q of %s: %w", name, Print(k.GroupVersionKind), err)
		}
	}
	return nil
}

// inspectBy adds the inspector of children.
func (k *Kind) inspectBy(d Declaration) error {
	if d.Inspect == nil {
		return nil
	}
	if !slices.Contains([]Purpose{PurposeOwns, PurposeWrites, PurposeShares, PurposeContributes}, d.Purpose) {
		return errors.New("option Inspector goes with Owns and Writes: the engine reports the health of children")
	}
	k.Inspect = d.Inspect
	return nil
}

// describe adds the options of a declaration.
func (k *Kind) describe(d Declaration) error {
	if len(d.Misused) > 0 {
		return fmt.Errorf("%s does not go with this method: Retired goes with Owns, NeverDeletes and FieldsOnly with Writes, one of them at most, Where with Owners",
			strings.Join(d.Misused, " and "))
	}
	if d.Broken != nil {
		return d.Broken
	}
	k.Optional = k.Optional || d.Optional
	filter := k.filterBy
	if d.Purpose == PurposeFor {
		filter = k.selectBy
	}
	if err := errors.Join(filter(d), k.inspectBy(d)); err != nil {
		return err
	}
	if d.Purpose != PurposeWatches {
		k.When = append(k.When, d.Predicates...)
	}
	for _, f := range d.Indexes {
		k.Fields[f.Name] = k.guarded(f.Name, f.Extract)
	}
	if d.Resource != "" {
		k.Resource = d.Resource
	}
	switch owner := k.Has(PurposeFor); {
	case owner && k.Filter != nil:
		return errors.New("option Filter: it would keep owners out of the cache: select the owners with Owners(Filter(...))")
	case k.Filter != nil && k.Filter.byContent() != "" && k.Has(PurposeOwns, PurposeWrites, PurposeShares, PurposeContributes):
		return fmt.Errorf("option Filter: children are filtered by labels, name or namespace; whether the field %s lets one in is not known "+
			"before it is written", k.Filter.byContent())
	case owner && k.Optional:
		return errors.New("option Optional: the kind of the owners must be installed")
	case owner && len(k.When) > 0:
		return errors.New("option WithPredicates: the owner's own events are not restricted: select owners with Owners(Filter(...)) or Owners(Where(...))")
	case k.Optional && k.Filter != nil:
		return errors.New("option Filter: an optional kind cannot be filtered: the manager's cache asks the API server for it at the start")
	}
	return nil
}

// filterBy adds the filter of a declaration, nil for none.
func (k *Kind) filterBy(d Declaration) error {
	f := d.Filter
	if f == nil {
		return nil
	}
	if k.Filter != nil && k.Filter.String() != f.String() {
		return fmt.Errorf("option Filter: want one filter of the kind, got %q here and %q in another call: they share its cache", f, k.Filter)
	}
	k.Filter = f
	return nil
}

// only reports whether the kind was declared for no other purpose.
func (k *Kind) only(p Purpose) bool {
	return !slices.ContainsFunc(k.Declarations, func(d Declaration) bool { return d.Purpose != p })
}
