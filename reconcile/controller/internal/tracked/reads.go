package tracked

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sunstructured "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/sparse"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/conditionlist"
)

var errMetadataOnly = errors.New("only the metadata of the kind is cached")

// Reads reads declared kinds from the manager's cache. Each kind has one informer, which serves reads in every representation.
// Reads never starts an informer for an undeclared kind.
type Reads struct {
	*declaration.Catalogue
	Cache    client.Reader
	Tracker  *tracking.Tracker
	Pending  *PendingWrites
	Unstable trigger.Unstable
	Pace     trigger.Pace
	answers  Answers
	// Conditions accesses the conditions of the owners.
	Conditions conditionlist.Access
	// Unsummarized reports that the owners have no condition Ready.
	Unsummarized bool
	Outside      *externalReads       // nil if no external kind is declared
	begun        sync.Map             // owner of a pass to the optional kinds at the start of its reads, see noteOptional
	Statuses     trigger.StatusWrites // of the owners

	Announce func(before, after client.Object) // passes cached objects to the engine
	// AnnounceOwner passes owners that have changed in the cache to the engine.
	AnnounceOwner func(owner client.Object)
}

// Answers has the functions for reads that the cache does not serve.
type Answers struct {
	// Group reads a group of another controller, and records the read in the session.
	Group func(s *tracking.Session, key types.NamespacedName, into client.Object) error
	// Absent returns the error for the read of an object whose kind is not installed.
	Absent func(kind schema.GroupVersionKind, name string) error
	// Live reads from the API server objects whose metadata alone is cached. It must not be nil if a cache is sparse.
	Live client.Reader
}

// New returns the reads of a controller. The deadline is that of [PendingWrites].
func New(kinds *declaration.Catalogue, cache client.Reader, deadline time.Duration, answers Answers) *Reads {
	c := &Reads{
		Catalogue: kinds, Cache: cache, Tracker: tracking.NewTracker(), Pending: NewPendingWrites(deadline), answers: answers,
	}
	c.Pending.cached = c.object
	for _, k := range kinds.Installable() {
		if k.Sparse() {
			k.Link = sparse.NewLink(kinds.Controller, func(object client.Object) bool { return c.Tracker.Wanted(k.Index, object) })
			k.Index.Unread = k.Link.Unread
		}
	}
	return c
}

// Share makes the reads use the sparse caches of running reads of the same kinds, which decide what these keep.
func (c *Reads) Share(running *Reads) {
	for gvk, k := range c.ByKind {
		if known := running.ByKind[gvk]; known != nil && k.Link != nil {
			k.Link = known.Link
		}
	}
}

// Drop removes objects from the sparse caches that no owner of the running reads needs.
func (c *Reads) Drop() {
	for _, k := range c.Installable() {
		if k.Link != nil {
			k.Link.Unread()
		}
	}
}

// declared returns the declared kind of into, or an error.
func (c *Reads) declared(into runtime.Object) (*declaration.Kind, error) {
	k, gvk, err := c.Find(into)
	if err != nil {
		return nil, err
	}
	if k == nil || k.Has(declaration.PurposeRetired) {
		return nil, &declaration.UndeclaredError{
			Controller: c.Controller, GVK: gvk, Declaration: declaration.PurposeReads.Call(c.example(into, gvk)),
		}
	}
	if k.Representation == declaration.Metadata && declaration.RepresentationOf(into) != declaration.Metadata {
		return nil, declaration.NewMistake(declaration.ReasonMetadataOnly, fmt.Errorf("read %s: %w: change %s at %s to %s", declaration.Print(gvk), errMetadataOnly,
			k.Declarations[0].Purpose, k.Declarations[0].Source, c.Example(gvk)))
	}
	return k, nil
}

// example returns the argument of the builder for the kind, in the representation of into.
func (c *Reads) example(into runtime.Object, gvk schema.GroupVersionKind) string {
	if declaration.RepresentationOf(into) == declaration.Metadata {
		return fmt.Sprintf("controller.Metadata(%#v)", gvk)
	}
	return c.Example(gvk)
}

func (c *Reads) get(
	ctx context.Context, k *declaration.Kind, key client.ObjectKey, into client.Object, opts ...client.GetOption,
) error {
	if k.Absent.Load() {
		if undiscovered := k.Undiscovered.Load(); undiscovered != nil {
			return undiscovered
		}
		return c.answers.Absent(k.GroupVersionKind, key.Name)
	}
	err := c.getCached(ctx, k, key, into, opts...)
	if err == nil || !k.Link.Sparse() {
		return err
	}
	return c.getWhole(ctx, k, key, into, err, opts...)
}

// getCached reads one object from the cache.
func (c *Reads) getCached(
	ctx context.Context, k *declaration.Kind, key client.ObjectKey, into client.Object, opts ...client.GetOption,
) error {
	if declaration.RepresentationOf(into) == k.Representation {
		return c.Cache.Get(ctx, key, into, opts...)
	}
	cached, err := c.Empty(k)
	if err != nil {
		return err
	}
	if err := c.Cache.Get(ctx, key, cached, opts...); err != nil {
		return err
	}
	return convert(cached, into, k.GroupVersionKind)
}

// sorted lists objects sorted by namespace and name, for phases.
func (c *Reads) sorted(ctx context.Context, k *declaration.Kind, into client.ObjectList, opts ...client.ListOption) error {
	if err := c.list(ctx, k, into, opts...); err != nil {
		return err
	}
	return sortList(into)
}

// list lists objects unsorted.
func (c *Reads) list(ctx context.Context, k *declaration.Kind, into client.ObjectList, opts ...client.ListOption) error {
	if k.Absent.Load() {
		if undiscovered := k.Undiscovered.Load(); undiscovered != nil {
			return undiscovered
		}
		return meta.SetList(into, nil)
	}
	err := c.listCached(ctx, k, into, opts...)
	if err == nil || !k.Link.Sparse() {
		return err
	}
	return c.listWhole(ctx, k, into, err, opts...)
}

// listCached lists objects from the cache.
func (c *Reads) listCached(ctx context.Context, k *declaration.Kind, into client.ObjectList, opts ...client.ListOption) error {
	if declaration.RepresentationOf(into) == k.Representation {
		return c.Cache.List(ctx, into, opts...)
	}
	cached, err := c.EmptyList(k)
	if err != nil {
		return err
	}
	if err := c.Cache.List(ctx, cached, opts...); err != nil {
		return err
	}
	return convertList(cached, into, k.GroupVersionKind)
}

// Empty returns an empty object of the kind in the representation of its informer.
func (c *Reads) Empty(k *declaration.Kind) (client.Object, error) {
	if k.Representation == declaration.Unstructured {
		object := &k8sunstructured.Unstructured{}
		object.SetGroupVersionKind(k.GroupVersionKind)
		return object, nil
	}
	if k.Representation == declaration.Metadata {
		return declaration.MetadataOf(k.GroupVersionKind), nil
	}
	object, err := c.Scheme.New(k.GroupVersionKind)
	if err != nil {
		return nil, err
	}
	if object, ok := object.(client.Object); ok {
		return object, nil
	}
	return nil, fmt.Errorf("%s: %T is no object with metadata", declaration.Print(k.GroupVersionKind), object)
}

// EmptyList returns an empty list of the kind in the representation of its informer.
func (c *Reads) EmptyList(k *declaration.Kind) (client.ObjectList, error) {
	gvk := k.GroupVersion().WithKind(k.Kind + "List")
	if k.Representation == declaration.Unstructured {
		list := &k8sunstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		return list, nil
	}
	if k.Representation == declaration.Metadata {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk)
		return list, nil
	}
	list, err := c.Scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	if list, ok := list.(client.ObjectList); ok {
		return list, nil
	}
	return nil, fmt.Errorf("%s: %T is no list", declaration.Print(gvk), list)
}

// convert fills an object of another representation. It can convert the metadata of any object, and the content only from a
// cache that keeps it.
func convert(from, into client.Object, gvk schema.GroupVersionKind) error {
	switch into := into.(type) {
	case *metav1.PartialObjectMetadata:
		*into = *meta.AsPartialObjectMetadata(from)
		into.SetGroupVersionKind(gvk)
		return nil
	case *k8sunstructured.Unstructured:
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(from)
		if err != nil {
			return fmt.Errorf("convert %s: %w", declaration.Print(gvk), err)
		}
		into.Object = content
		into.SetGroupVersionKind(gvk)
		return nil
	}
	from2, ok := from.(runtime.Unstructured)
	if !ok {
		return fmt.Errorf("convert %s from %T to %T: %w", declaration.Print(gvk), from, into, errMetadataOnly)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(from2.UnstructuredContent(), into); err != nil {
		return fmt.Errorf("convert %s: %w", declaration.Print(gvk), err)
	}
	return nil
}

func convertList(from, into client.ObjectList, gvk schema.GroupVersionKind) error {
	cached, err := meta.ExtractList(from)
	if err != nil {
		return err
	}
	items := reflect.Indirect(reflect.ValueOf(into)).FieldByName("Items")
	if items.Kind() != reflect.Slice {
		return fmt.Errorf("convert a list of %s: %T has no items", declaration.Print(gvk), into)
	}
	result := reflect.MakeSlice(items.Type(), len(cached), len(cached))
	for i := range cached {
		item := result.Index(i)
		if item.Kind() == reflect.Pointer {
			item.Set(reflect.New(item.Type().Elem()))
		} else {
			item = item.Addr()
		}
		source, isObject := cached[i].(client.Object)
		target, ok := item.Interface().(client.Object)
		if !ok || !isObject {
			return fmt.Errorf("convert a list of %s: %T has items without metadata", declaration.Print(gvk), into)
		}
		if err := convert(source, target, gvk); err != nil {
			return err
		}
	}
	items.Set(result)
	return nil
}

// sortList sorts the items of a list by namespace and name: the cache returns them unsorted, and a plan that is
// computed from a list must not depend on the order.
func sortList(list client.ObjectList) error {
	items := reflect.Indirect(reflect.ValueOf(list)).FieldByName("Items")
	if items.Kind() != reflect.Slice || items.Len() < 2 { //nolint:mnd // one item is sorted
		return nil
	}
	objects := make([]metav1.Object, items.Len())
	for i := range objects {
		item := items.Index(i)
		if item.Kind() != reflect.Pointer {
			item = item.Addr()
		}
		object, ok := item.Interface().(metav1.Object)
		if !ok {
			return fmt.Errorf("sort %T: its items have no metadata", list)
		}
		objects[i] = object
	}
	sort.Sort(&byName{objects: objects, swap: reflect.Swapper(items.Interface()), values: items.Index(0).Kind() != reflect.Pointer})
	return nil
}

// byName sorts items. If the items are pointers, it sorts the list of their metadata along with them; the metadata of
// items that are values stays in place and reflects the swap.
type byName struct {
	objects []metav1.Object
	swap    func(i, j int)
	values  bool
}

func (s *byName) Len() int { return len(s.objects) }

func (s *byName) Less(i, j int) bool {
	a, b := s.objects[i], s.objects[j]
	if a.GetNamespace() != b.GetNamespace() {
		return a.GetNamespace() < b.GetNamespace()
	}
	return a.GetName() < b.GetName()
}

func (s *byName) Swap(i, j int) {
	s.swap(i, j)
	if !s.values {
		s.objects[i], s.objects[j] = s.objects[j], s.objects[i]
	}
}

// IgnoreMissing returns found == false and no error for a NotFound error.
func IgnoreMissing(err error) (found bool, _ error) {
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// unindexed returns an error that names the line to add if a list failed because the cache has no index for an undeclared
// field. It returns other errors unchanged.
func (c *Reads) unindexed(k *declaration.Kind, selector fields.Selector, err error) error {
	if selector == nil || !strings.Contains(err.Error(), "does not exist") { // client-go has no type for it
		return err
	}
	for _, requirement := range selector.Requirements() {
		if k.Fields[requirement.Field] != nil {
			continue
		}
		option := fmt.Sprintf("controller.Index(%q, ...)", requirement.Field)
		if requirement.Field == reconcile.ChildIndex {
			option = "controller.Listed"
		}
		return declaration.NewMistake(declaration.ReasonUndeclaredIndex, fmt.Errorf("list %s by field %q: add %s beside %s in the builder of controller %q: %w",
			declaration.Print(k.GroupVersionKind), requirement.Field, option, c.Example(k.GroupVersionKind), c.Controller, err))
	}
	return err
}

// object returns the cached object of a write, nil if the cache does not have it.
func (c *Reads) object(w write) (client.Object, error) {
	object, err := c.Empty(w.kind)
	if err != nil {
		return nil, err
	}
	err = c.getCached(context.Background(), w.kind, w.key, object) //nolint:forbidigo // a read from memory
	if only := (*sparse.MetadataOnlyError)(nil); errors.As(err, &only) {
		return only.Metadata(), nil
	}
	found, err := IgnoreMissing(err)
	if !found {
		return nil, err
	}
	return object, nil
}
