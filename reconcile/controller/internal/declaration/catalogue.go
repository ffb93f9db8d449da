package declaration

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
)

// Catalogue has the declared kinds of a controller, in the order of their first declaration.
type Catalogue struct {
	Controller string
	Scheme     *runtime.Scheme
	Kinds      []*Kind
	optionals  []*Kind // of kinds
	ByKind     map[schema.GroupVersionKind]*Kind
	byType     sync.Map // reflect.Type of objects with a Go type of their own, to found; a lookup in the scheme costs more
}

// found is the kind of an object or list, if it was declared.
type found struct {
	kind *Kind
	gvk  schema.GroupVersionKind
}

// Resolve looks the kinds of the declarations up in the scheme and checks that they agree. Errors name the line to change.
func Resolve(controller string, scheme *runtime.Scheme, declarations []Declaration) (*Catalogue, error) {
	c := &Catalogue{Controller: controller, Scheme: scheme, ByKind: map[schema.GroupVersionKind]*Kind{}}
	for _, declaration := range declarations {
		if err := c.declare(declaration); err != nil {
			return nil, err
		}
	}
	c.optionals = slices.DeleteFunc(slices.Clone(c.Kinds), func(k *Kind) bool { return !k.Optional })
	return c, nil
}

// ShareOwners restricts the cache of a process to the selected owners, unless their kind is also used in another way.
func (c *Catalogue) ShareOwners(selection shards.Selection) {
	if owner := c.Kinds[0]; owner.only(PurposeFor) {
		owner.Shared = selection
	}
}

var errNoList = errors.New("a Derivation has no list")

func (c *Catalogue) declare(d Declaration) error {
	gvk, err := c.gvk(d.Object)
	if err != nil {
		method, _ := d.Purpose.method()
		return fmt.Errorf("controller %q: %s(%T) at %s: %w", c.Controller, method, d.Object, d.Source, err)
	}
	k := c.ByKind[gvk]
	if k == nil {
		k = &Kind{
			GroupVersionKind: gvk, Representation: RepresentationOf(d.Object), Object: d.Object,
			Fields: map[string]client.IndexerFunc{},
		}
		k.Index = tracking.NewIndex(k.Field)
		c.ByKind[gvk] = k
		c.Kinds = append(c.Kinds, k)
	}
	call := d.Purpose.Call(gvk.Kind)
	if got := RepresentationOf(d.Object); got != k.Representation {
		return fmt.Errorf("controller %q: %s at %s is %s, but %s at %s is %s: declare a kind in one representation",
			c.Controller, call, d.Source, got,
			k.Declarations[0].Purpose.Call(gvk.Kind), k.Declarations[0].Source, k.Representation)
	}
	if k.Representation == Metadata && !slices.Contains([]Purpose{PurposeReads, PurposeWatches, PurposeRetired}, d.Purpose) {
		return fmt.Errorf("controller %q: %s at %s is metadata only: what is written needs a full cache", c.Controller, call, d.Source)
	}
	k.Declarations = append(k.Declarations, d)
	if k.Has(PurposeRetired) && len(k.Declarations) > 1 && !k.only(PurposeRetired) {
		return fmt.Errorf("controller %q: %s at %s and %s at %s: a kind that is retired is not used in any other way",
			c.Controller, call, d.Source, k.Declarations[0].Purpose.Call(gvk.Kind), k.Declarations[0].Source)
	}
	if err := cmp.Or(k.describe(d), c.derive(k, d.Derives)); err != nil {
		return fmt.Errorf("controller %q: %s at %s: %w", c.Controller, call, d.Source, err)
	}
	return nil
}

// derive adds the values that are computed from objects of the kind.
func (c *Catalogue) derive(k *Kind, values []Derivation) error {
	for _, of := range values {
		list, err := schema.GroupVersionKind{}, errNoList
		if of.List != nil {
			list, err = apiutil.GVKForObject(of.List, c.Scheme)
		}
		switch {
		case k.Has(PurposeRetired):
			return fmt.Errorf("option Derives: a kind that is retired is not read: take the Derivation %q away", of.Name)
		case err != nil || list != k.GroupVersion().WithKind(k.Kind+"List"):
			return fmt.Errorf("option Derives: %q is derived from %T, want a list of the kind", of.Name, of.List)
		case of.Name == "" || slices.ContainsFunc(k.Derives, func(other Derivation) bool { return other.Name == of.Name && other.Of != of.Of }):
			return fmt.Errorf("option Derives: the name of a Derivation is %q: want one that no other of the kind has", of.Name)
		}
		k.Derives = append(k.Derives, of)
	}
	return nil
}

func (c *Catalogue) gvk(object client.Object) (schema.GroupVersionKind, error) {
	if RepresentationOf(object) == Virtual {
		return object.GetObjectKind().GroupVersionKind(), nil
	}
	gvk, err := apiutil.GVKForObject(object, c.Scheme)
	if runtime.IsNotRegisteredError(err) {
		err = fmt.Errorf("%w: add the AddToScheme of its package to the scheme of the manager, for package operator to Operator.AddToScheme", err)
	}
	return gvk, err
}

// Installable returns the kinds that are read and written, and that an API server has.
func (c *Catalogue) Installable() []*Kind {
	return slices.DeleteFunc(slices.Clone(c.Kinds), func(k *Kind) bool {
		return k.Representation == Virtual || k.Has(PurposeRetired)
	})
}

// Retired returns the kinds that only an earlier version has used.
func (c *Catalogue) Retired() []*Kind {
	return slices.DeleteFunc(slices.Clone(c.Kinds), func(k *Kind) bool { return !k.Has(PurposeRetired) })
}

// ChildKinds returns the kinds of the plans for the engine.
func (c *Catalogue) ChildKinds() []apply.ChildKind {
	out := []apply.ChildKind{} // an empty list, because nil means unknown
	for _, k := range c.Kinds {
		switch {
		case k.Has(PurposeOwns):
			out = append(out, apply.ChildKind{GVK: k.GroupVersionKind})
		case k.Has(PurposeWrites, PurposeShares, PurposeContributes):
			out = append(out, apply.ChildKind{GVK: k.GroupVersionKind, Use: apply.KindWritten})
		case k.Has(PurposeRetired):
			out = append(out, apply.ChildKind{GVK: k.GroupVersionKind, Use: apply.KindRetired})
		}
	}
	return out
}

// Find returns the declared kind of an object or list.
func (c *Catalogue) Find(object runtime.Object) (*Kind, schema.GroupVersionKind, error) {
	if RepresentationOf(object) != typed {
		return c.look(object)
	}
	t := reflect.TypeOf(object)
	if known, ok := c.byType.Load(t); ok {
		f := known.(found) //nolint:forcetypeassert // only this method stores
		return f.kind, f.gvk, nil
	}
	k, gvk, err := c.look(object)
	if err == nil {
		c.byType.Store(t, found{k, gvk})
	}
	return k, gvk, err
}

func (c *Catalogue) look(object runtime.Object) (*Kind, schema.GroupVersionKind, error) {
	gvk, err := apiutil.GVKForObject(object, c.Scheme)
	if err != nil {
		return nil, gvk, err
	}
	if meta.IsListType(object) {
		gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	}
	return c.ByKind[gvk], gvk, nil
}

// Example returns the argument of the builder for the kind: a pointer to its Go type if the scheme has one.
func (c *Catalogue) Example(gvk schema.GroupVersionKind) string {
	object, err := c.Scheme.New(gvk)
	if err != nil {
		return fmt.Sprintf("controller.Unstructured(%#v)", gvk)
	}
	return "&" + strings.TrimPrefix(fmt.Sprintf("%T", object), "*") + "{}"
}

// Optional returns the kinds that may be missing. They are determined once, after all declarations.
func (c *Catalogue) Optional() []*Kind { return c.optionals }

// Named reports whether name refers to the kind, with or without its group.
func (k *Kind) Named(name string) bool {
	return strings.EqualFold(name, k.Kind) || strings.EqualFold(name, k.GroupKind().String())
}

// Present returns the installed kinds.
func (c *Catalogue) Present() []*Kind {
	return slices.DeleteFunc(slices.Clone(c.Installable()), func(k *Kind) bool { return k.Absent.Load() })
}

// PresentKinds determines which optional kinds are installed.
func (c *Catalogue) PresentKinds(mapper meta.RESTMapper) error {
	for _, k := range c.Optional() {
		mapping, err := mapper.RESTMapping(k.GroupKind(), k.Version)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look up %s: %w", Print(k.GroupVersionKind), err)
		}
		k.Cluster.Store(mapping.Scope.Name() == meta.RESTScopeNameRoot)
		k.Absent.Store(false)
	}
	return nil
}

// PresentIn takes over which kinds are installed and cluster-scoped from the same kinds of another catalogue.
func (c *Catalogue) PresentIn(other *Catalogue) {
	for gvk, k := range c.ByKind {
		if known := other.ByKind[gvk]; known != nil {
			k.Cluster.Store(known.Cluster.Load())
			k.Absent.Store(known.Absent.Load())
			k.Undiscovered.Store(known.Undiscovered.Load())
		}
	}
}

// OptionalAt returns the line that declares the kind as optional, empty if none does.
func (k *Kind) OptionalAt() string {
	for _, d := range k.Declarations {
		if d.Optional {
			return d.Source
		}
	}
	return ""
}

// Selector returns the filter as text, empty if there is none.
func (k *Kind) Selector() string { return k.Filter.String() }
