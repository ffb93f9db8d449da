package engine

import (
	"fmt"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/compare"
)

// kind is what the engine knows about the objects of one kind in one
// representation.
type kind struct {
	gvk        schema.GroupVersionKind
	namespaced bool
	rank       int
	// goType is the struct behind the typed representation; nil means
	// unstructured.
	goType reflect.Type
	// schema is what is known about values of the kind.
	schema compare.Schema
	// metadata reports that nothing but the metadata is read and written.
	metadata bool
	// scratch recycles typed objects that cached reads fill in.
	scratch sync.Pool
}

// newObject returns an empty object to read into.
func (k *kind) newObject() client.Object {
	if k.metadata {
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(k.gvk)
		return m
	}
	if k.goType == nil {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(k.gvk)
		return u
	}
	if o, ok := k.scratch.Get().(client.Object); ok {
		return o
	}
	return reflect.New(k.goType).Interface().(client.Object) //nolint:forcetypeassert // checked when the kind was made
}

// release takes an object back that nobody refers to any longer.
func (k *kind) release(o client.Object) {
	if k.goType == nil || o == nil {
		return
	}
	reflect.ValueOf(o).Elem().SetZero()
	k.scratch.Put(o)
}

// kinds finds kinds and remembers them; their number is that of the kinds in
// the plans of the program.
type kinds struct {
	client client.Client
	byType sync.Map // reflect.Type to *kind
	byGVK  sync.Map // schema.GroupVersionKind to *kind, unstructured
	owners sync.Map // schema.GroupVersionKind to *kind, metadata only
}

// apply configurations have these methods.
type applyConfiguration interface {
	GetName() *string
	GetNamespace() *string
	GetKind() *string
	GetAPIVersion() *string
}

const errNothingPlanned = planError("child: want either Object or Configuration, not both")

// of returns the kind of a planned child.
func (r *kinds) of(c *apply.Child) (*kind, error) {
	switch {
	case (c.Object == nil) == (c.Configuration == nil):
		return nil, errNothingPlanned
	case c.Object != nil && isNil(c.Object):
		return nil, planError(fmt.Sprintf("child: a nil %T is planned; leave out of the plan what is not wanted", c.Object))
	case c.Object != nil:
		return r.ofObject(c.Object)
	}
	ac, ok := c.Configuration.(applyConfiguration)
	if !ok || ac.GetKind() == nil || ac.GetAPIVersion() == nil {
		return nil, planError(fmt.Sprintf("apply configuration %T must have apiVersion and kind", c.Configuration))
	}
	gv, err := schema.ParseGroupVersion(*ac.GetAPIVersion())
	if err != nil {
		return nil, fmt.Errorf("apply configuration %T: %w", c.Configuration, err)
	}
	return r.ofGVK(gv.WithKind(*ac.GetKind()))
}

// isNil reports whether an object is a nil pointer.
func isNil(o client.Object) bool {
	v := reflect.ValueOf(o)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// gvk returns the kind of a planned child of which nothing else could be found
// out, empty if it is not known either.
func (r *kinds) gvk(c *apply.Child) schema.GroupVersionKind {
	if c.Object != nil && c.Configuration == nil {
		gvk, _ := r.client.GroupVersionKindFor(c.Object)
		return gvk
	}
	if ac, ok := c.Configuration.(applyConfiguration); ok && ac.GetKind() != nil && ac.GetAPIVersion() != nil {
		return schema.FromAPIVersionAndKind(*ac.GetAPIVersion(), *ac.GetKind())
	}
	return schema.GroupVersionKind{}
}

// ofGVK prefers the typed representation where the scheme knows one.
func (r *kinds) ofGVK(gvk schema.GroupVersionKind) (*kind, error) {
	if r.client.Scheme().Recognizes(gvk) {
		if o, err := r.client.Scheme().New(gvk); err == nil {
			if typed, ok := o.(client.Object); ok {
				return r.ofObject(typed)
			}
		}
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return r.ofObject(u)
}

func (r *kinds) ofObject(o client.Object) (*kind, error) {
	if u, ok := o.(runtime.Unstructured); ok {
		gvk := u.GetObjectKind().GroupVersionKind()
		return r.load(&r.byGVK, gvk, o, nil)
	}
	t := reflect.TypeOf(o)
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil, planError(fmt.Sprintf("object of type %T must be a pointer to a struct", o))
	}
	return r.load(&r.byType, t, o, t.Elem())
}

// metadataOf returns the kind of an owner of which only the metadata counts.
func (r *kinds) metadataOf(owner *kind) *kind {
	if k, ok := r.owners.Load(owner.gvk); ok {
		return k.(*kind) //nolint:forcetypeassert // only this method stores
	}
	k, _ := r.owners.LoadOrStore(owner.gvk, &kind{gvk: owner.gvk, namespaced: owner.namespaced, rank: owner.rank, metadata: true})
	return k.(*kind) //nolint:forcetypeassert // just stored
}

func (r *kinds) load(known *sync.Map, key any, o client.Object, goType reflect.Type) (*kind, error) {
	if k, ok := known.Load(key); ok {
		return k.(*kind), nil //nolint:forcetypeassert // only this method stores
	}
	gvk, err := r.client.GroupVersionKindFor(o)
	if err != nil {
		return nil, fmt.Errorf("kind of %T: %w", o, err)
	}
	namespaced, err := r.client.IsObjectNamespaced(o)
	if err != nil {
		return nil, fmt.Errorf("scope of %s: %w", gvk.Kind, err)
	}
	k, _ := known.LoadOrStore(key, &kind{
		gvk: gvk, namespaced: namespaced, goType: goType, rank: rank(gvk.GroupKind()),
		schema: compare.SchemaOf(gvk, goType, r.client.Scheme()),
	})
	return k.(*kind), nil //nolint:forcetypeassert // just stored
}
