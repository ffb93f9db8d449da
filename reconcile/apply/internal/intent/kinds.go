package intent

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// Kind is the information about the objects of one kind in one representation.
type Kind struct {
	GVK        schema.GroupVersionKind
	Namespaced bool
	Rank       int
	// GoType is the struct behind the typed representation; nil means
	// unstructured.
	GoType reflect.Type
	// Schema is the known schema of the kind.
	Schema fieldset.Schema
	// Metadata reports that only the metadata is read and written.
	Metadata bool
	// scratch recycles typed objects for cached reads.
	scratch sync.Pool
}

// NewObject returns an empty object to read into.
func (k *Kind) NewObject() client.Object {
	if k.Metadata {
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(k.GVK)
		return m
	}
	if k.GoType == nil {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(k.GVK)
		return u
	}
	if o, ok := k.scratch.Get().(client.Object); ok {
		return o
	}
	return reflect.New(k.GoType).Interface().(client.Object) //nolint:forcetypeassert // checked when the kind was made
}

// Release releases an object without remaining references for reuse.
func (k *Kind) Release(o client.Object) {
	if k.GoType == nil || o == nil {
		return
	}
	reflect.ValueOf(o).Elem().SetZero()
	k.scratch.Put(o)
}

// Kinds finds and caches kinds. Their number is bounded by the kinds in the plans of the program.
type Kinds struct {
	Client client.Client
	byType sync.Map // reflect.Type to *Kind
	byGVK  sync.Map // schema.GroupVersionKind to *Kind, unstructured
	byMeta sync.Map // schema.GroupVersionKind to *Kind, metadata only
	owners sync.Map // schema.GroupVersionKind to *Kind of an owner, metadata only
}

// applyConfiguration has the methods of generated apply configurations.
type applyConfiguration interface {
	GetName() *string
	GetNamespace() *string
	GetKind() *string
	GetAPIVersion() *string
}

const errList = PlanError("child: a list is planned; plan each of its items")

const errNothingPlanned = PlanError("child: want either Object or Configuration, not both")

// Of returns the kind of a planned child.
func (r *Kinds) Of(c *apply.Child) (*Kind, error) {
	switch {
	case (c.Object == nil) == (c.Configuration == nil):
		return nil, errNothingPlanned
	case c.Object != nil && isNil(c.Object):
		return nil, PlanError(fmt.Sprintf("child: a nil %T is planned; leave out of the plan what is not wanted", c.Object))
	case c.Object != nil:
		return r.OfObject(c.Object)
	}
	ac, ok := c.Configuration.(applyConfiguration)
	if !ok || ac.GetKind() == nil || ac.GetAPIVersion() == nil {
		return nil, PlanError(fmt.Sprintf("apply configuration %T must have apiVersion and kind", c.Configuration))
	}
	gv, err := schema.ParseGroupVersion(*ac.GetAPIVersion())
	if err != nil {
		return nil, fmt.Errorf("apply configuration %T: %w", c.Configuration, err)
	}
	return r.OfGVK(gv.WithKind(*ac.GetKind()))
}

// isNil reports whether an object is a nil pointer.
func isNil(o client.Object) bool {
	v := reflect.ValueOf(o)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// isList reports whether an object is a list of objects, which no cache supports.
func isList(u runtime.Unstructured) bool {
	return u.IsList() && strings.HasSuffix(u.GetObjectKind().GroupVersionKind().Kind, "List")
}

// GVK returns the kind of a planned child that could not be resolved, empty if unknown.
func (r *Kinds) GVK(c *apply.Child) schema.GroupVersionKind {
	if c.Object != nil && c.Configuration == nil {
		if u, untyped := c.Object.(runtime.Unstructured); untyped && (isNil(c.Object) || isList(u)) {
			return schema.GroupVersionKind{}
		}
		gvk, _ := r.Client.GroupVersionKindFor(c.Object)
		return gvk
	}
	if ac, ok := c.Configuration.(applyConfiguration); ok && ac.GetKind() != nil && ac.GetAPIVersion() != nil {
		return schema.FromAPIVersionAndKind(*ac.GetAPIVersion(), *ac.GetKind())
	}
	return schema.GroupVersionKind{}
}

// OfGVK returns the kind, in the typed representation if the scheme has one.
func (r *Kinds) OfGVK(gvk schema.GroupVersionKind) (*Kind, error) {
	if r.Client.Scheme().Recognizes(gvk) {
		if o, err := r.Client.Scheme().New(gvk); err == nil {
			if typed, ok := o.(client.Object); ok {
				return r.OfObject(typed)
			}
		}
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return r.OfObject(u)
}

// OfObject returns the kind of an object in its representation.
func (r *Kinds) OfObject(o client.Object) (*Kind, error) {
	if u, ok := o.(runtime.Unstructured); ok {
		if isList(u) {
			return nil, errList
		}
		gvk := u.GetObjectKind().GroupVersionKind()
		return r.load(&r.byGVK, gvk, o, nil)
	}
	if m, ok := o.(*metav1.PartialObjectMetadata); ok { // one Go type for all kinds
		return r.load(&r.byMeta, m.GroupVersionKind(), o, nil)
	}
	t := reflect.TypeOf(o)
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil, PlanError(fmt.Sprintf("object of type %T must be a pointer to a struct", o))
	}
	return r.load(&r.byType, t, o, t.Elem())
}

// MetadataOf returns the metadata-only kind of an owner.
func (r *Kinds) MetadataOf(owner *Kind) *Kind {
	if k, ok := r.owners.Load(owner.GVK); ok {
		return k.(*Kind) //nolint:forcetypeassert // only this method stores
	}
	k, _ := r.owners.LoadOrStore(owner.GVK, &Kind{GVK: owner.GVK, Namespaced: owner.Namespaced, Rank: owner.Rank, Metadata: true})
	return k.(*Kind) //nolint:forcetypeassert // just stored
}

func (r *Kinds) load(known *sync.Map, key any, o client.Object, goType reflect.Type) (*Kind, error) {
	if k, ok := known.Load(key); ok {
		return k.(*Kind), nil //nolint:forcetypeassert // only this method stores
	}
	gvk, err := r.Client.GroupVersionKindFor(o)
	if err != nil {
		return nil, PlanError(fmt.Sprintf("kind of %T: %v", o, err))
	}
	namespaced, err := r.Client.IsObjectNamespaced(o)
	if err != nil {
		return nil, fmt.Errorf("scope of %s: %w", gvk.Kind, err)
	}
	_, metadata := o.(*metav1.PartialObjectMetadata)
	k, _ := known.LoadOrStore(key, &Kind{
		GVK: gvk, Namespaced: namespaced, GoType: goType, Rank: Rank(gvk.GroupKind()), Metadata: metadata,
		Schema: fieldset.SchemaOf(gvk, goType, r.Client.Scheme()),
	})
	return k.(*Kind), nil //nolint:forcetypeassert // just stored
}

// Key returns the namespace and name in the plan.
func Key(c *apply.Child) types.NamespacedName {
	if c.Object != nil {
		if isNil(c.Object) {
			return types.NamespacedName{}
		}
		return client.ObjectKeyFromObject(c.Object)
	}
	var key types.NamespacedName
	if ac, ok := c.Configuration.(applyConfiguration); ok {
		if name := ac.GetName(); name != nil {
			key.Name = *name
		}
		if namespace := ac.GetNamespace(); namespace != nil {
			key.Namespace = *namespace
		}
	}
	return key
}
