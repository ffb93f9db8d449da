package controller

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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/words"
)

// representation is how the cache keeps a kind. Each has an informer of its own, so a kind is declared in one only.
type representation string

const (
	typed        representation = "typed"
	unstructured representation = "unstructured"
	metadata     representation = "metadata"
	virtual      representation = "group" // of a Group, which no cache has
)

func representationOf(object runtime.Object) representation {
	switch object.(type) {
	case runtime.Unstructured:
		return unstructured
	case *Group:
		return virtual
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return metadata
	default:
		return typed
	}
}

// kind is a declared kind: everything that is known of it comes together here.
type kind struct {
	schema.GroupVersionKind
	representation representation
	object         client.Object // an example of it, never changed
	declarations   []declaration // in the order of the builder
	filter         labels.Selector
	when           []predicate.Predicate
	optional       bool   // its CRD may be missing
	resource       string // its plural, where that is not regular
	fields         map[string]client.IndexerFunc

	index   *tracking.Index
	cluster atomic.Bool // the kind has no namespaces
	absent  atomic.Bool // the kind is optional and its CRD is missing
	// appeared counts how often the CRD of an optional kind has come.
	appeared atomic.Uint64
	seen     observed

	unfiltered sync.Once // guards the complaint that the filter was not installed
}

// has reports whether the kind was declared for one of the purposes.
func (k *kind) has(purposes ...purpose) bool {
	return slices.ContainsFunc(k.declarations, func(d declaration) bool { return slices.Contains(purposes, d.purpose) })
}

// checkFilter logs, once, that the cache holds what the filter of the kind keeps out: the manager was made without [CacheOptions].
func (k *kind) checkFilter(logger logr.Logger, object client.Object) {
	if k.filter == nil || k.filter.Matches(labels.Set(object.GetLabels())) {
		return
	}
	k.unfiltered.Do(func() {
		logger.Error(nil, "the filter of the kind is not installed: the cache holds all its objects, and reads find them; "+
			"make the manager with the cache options that CacheOptions returns for this controller",
			"kind", printKind(k.GroupVersionKind), "filter", k.filter.String(), "found", client.ObjectKeyFromObject(object))
	})
}

// name is the key under which the API server knows the object: a kind without namespaces ignores the namespace.
func (k *kind) name(key client.ObjectKey) types.NamespacedName {
	if k.cluster.Load() {
		key.Namespace = ""
	}
	return key
}

// field returns the values of a field of the object, if there is a way to know them.
func (k *kind) field(object client.Object, name string) (values []string, known bool) {
	switch name {
	case "metadata.name":
		return []string{object.GetName()}, true
	case "metadata.namespace":
		return []string{object.GetNamespace()}, true
	}
	if extract := k.fields[name]; extract != nil {
		return extract(object), true
	}
	return nil, false
}

// indexFields lets the cache list the kind by its indexed fields.
func (k *kind) indexFields(ctx context.Context, indexer client.FieldIndexer) error {
	for _, name := range slices.Sorted(maps.Keys(k.fields)) {
		if err := indexer.IndexField(ctx, k.object, name, k.fields[name]); err != nil {
			return fmt.Errorf("index field %q of %s: %w", name, printKind(k.GroupVersionKind), err)
		}
	}
	return nil
}

// catalogue holds the declared kinds of a controller, in the order of their first declaration.
type catalogue struct {
	controller string
	scheme     *runtime.Scheme
	kinds      []*kind
	optionals  []*kind // of kinds
	byKind     map[schema.GroupVersionKind]*kind
	byType     sync.Map // reflect.Type of what has a Go type of its own to found; asking the scheme costs more
}

// found is the kind of an object or list, as far as it was declared.
type found struct {
	kind *kind
	gvk  schema.GroupVersionKind
}

// resolve finds the kinds of the declarations in the scheme and checks that they agree. Errors name the line to change.
func (d *declared) resolve(controller string, scheme *runtime.Scheme) (*catalogue, error) {
	c := &catalogue{controller: controller, scheme: scheme, byKind: map[schema.GroupVersionKind]*kind{}}
	for _, declaration := range d.declarations {
		if err := c.declare(declaration); err != nil {
			return nil, err
		}
	}
	c.optionals = slices.DeleteFunc(slices.Clone(c.kinds), func(k *kind) bool { return !k.optional })
	return c, nil
}

func (c *catalogue) declare(d declaration) error {
	gvk, err := c.gvk(d.object)
	if err != nil {
		method, _ := d.purpose.method()
		return fmt.Errorf("controller %q: %s(%T) at %s: %w", c.controller, method, d.object, d.source, err)
	}
	k := c.byKind[gvk]
	if k == nil {
		k = &kind{
			GroupVersionKind: gvk, representation: representationOf(d.object), object: d.object,
			fields: map[string]client.IndexerFunc{},
		}
		k.index = tracking.NewIndex(k.field)
		c.byKind[gvk] = k
		c.kinds = append(c.kinds, k)
	}
	call := d.purpose.call(gvk.Kind)
	if got := representationOf(d.object); got != k.representation {
		return fmt.Errorf("controller %q: %s at %s is %s, but %s at %s is %s: declare a kind in one representation",
			c.controller, call, d.source, got,
			k.declarations[0].purpose.call(gvk.Kind), k.declarations[0].source, k.representation)
	}
	if k.representation == metadata && !slices.Contains([]purpose{purposeReads, purposeWatches, purposeRetired}, d.purpose) {
		return fmt.Errorf("controller %q: %s at %s is metadata only: what is written needs a full cache", c.controller, call, d.source)
	}
	k.declarations = append(k.declarations, d)
	if k.has(purposeRetired) && len(k.declarations) > 1 && !k.only(purposeRetired) {
		return fmt.Errorf("controller %q: %s at %s and %s at %s: a kind that is retired is not used in any other way",
			c.controller, call, d.source, k.declarations[0].purpose.call(gvk.Kind), k.declarations[0].source)
	}
	if err := k.describe(d); err != nil {
		return fmt.Errorf("controller %q: %s at %s: %w", c.controller, call, d.source, err)
	}
	return nil
}

// describe takes over what stands beside the kind in a declaration.
func (k *kind) describe(d declaration) error {
	if len(d.misused) > 0 {
		return fmt.Errorf("%s does not go with this method: Retired goes with Owns, NeverDeletes and FieldsOnly with Writes, one of them at most",
			strings.Join(d.misused, " and "))
	}
	k.optional = k.optional || d.optional
	if d.filter != nil {
		k.filter = d.filter
	}
	if d.purpose != purposeWatches {
		k.when = append(k.when, d.predicates...)
	}
	for _, f := range d.indexes {
		k.fields[f.name] = f.extract
	}
	if d.resource != "" {
		k.resource = d.resource
	}
	switch owner := k.has(purposeFor); {
	case owner && k.filter != nil:
		return errors.New("option Filter: owners cannot be filtered")
	case owner && k.optional:
		return errors.New("option Optional: the kind of the owners must be installed")
	case owner && len(k.when) > 0:
		return errors.New("option WithPredicates: the owner's own events are not restricted")
	case k.optional && k.filter != nil:
		return errors.New("option Filter: an optional kind cannot be filtered: the manager's cache asks the API server for it at the start")
	}
	return nil
}

// only reports whether the kind was declared for nothing else.
func (k *kind) only(p purpose) bool {
	return !slices.ContainsFunc(k.declarations, func(d declaration) bool { return d.purpose != p })
}

func (c *catalogue) gvk(object client.Object) (schema.GroupVersionKind, error) {
	if representationOf(object) == virtual {
		return object.GetObjectKind().GroupVersionKind(), nil
	}
	return apiutil.GVKForObject(object, c.scheme)
}

// installable lists the kinds that are read and written, and that an API server knows.
func (c *catalogue) installable() []*kind {
	return slices.DeleteFunc(slices.Clone(c.kinds), func(k *kind) bool {
		return k.representation == virtual || k.has(purposeRetired)
	})
}

// retired lists the kinds that only an earlier version has used.
func (c *catalogue) retired() []*kind {
	return slices.DeleteFunc(slices.Clone(c.kinds), func(k *kind) bool { return !k.has(purposeRetired) })
}

// childKinds are the kinds of the plans, as the engine has to know them.
func (c *catalogue) childKinds() []apply.ChildKind {
	out := []apply.ChildKind{} // none is not the same as unknown
	for _, k := range c.kinds {
		switch {
		case k.has(purposeOwns):
			out = append(out, apply.ChildKind{GVK: k.GroupVersionKind})
		case k.has(purposeWrites, purposeShares, purposeContributes):
			out = append(out, apply.ChildKind{GVK: k.GroupVersionKind, Use: words.KindWritten})
		case k.has(purposeRetired):
			out = append(out, apply.ChildKind{GVK: k.GroupVersionKind, Use: words.KindRetired})
		}
	}
	return out
}

// find returns the declared kind of an object or list.
func (c *catalogue) find(object runtime.Object) (*kind, schema.GroupVersionKind, error) {
	if representationOf(object) != typed {
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

func (c *catalogue) look(object runtime.Object) (*kind, schema.GroupVersionKind, error) {
	gvk, err := apiutil.GVKForObject(object, c.scheme)
	if err != nil {
		return nil, gvk, err
	}
	if meta.IsListType(object) {
		gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	}
	return c.byKind[gvk], gvk, nil
}

// example is how the builder would be given the kind: a pointer to its Go type where the scheme has one.
func (c *catalogue) example(gvk schema.GroupVersionKind) string {
	object, err := c.scheme.New(gvk)
	if err != nil {
		return fmt.Sprintf("controller.Unstructured(%#v)", gvk)
	}
	return "&" + strings.TrimPrefix(fmt.Sprintf("%T", object), "*") + "{}"
}

// optional lists the kinds that may be missing. They are found once, after all declarations.
func (c *catalogue) optional() []*kind { return c.optionals }

// UndeclaredError is the refusal to read or write a kind that the builder of the controller was not told of: such a read
// would have no watch, and the rights would not allow it. Its text names what to add.
type UndeclaredError struct {
	// Controller is the name of the controller.
	Controller string
	// GVK is the kind.
	GVK schema.GroupVersionKind
	// Declaration is the call of the [Builder] that declares the kind for this use, as Go code.
	Declaration string
}

// Error names the line to add.
func (e *UndeclaredError) Error() string {
	return fmt.Sprintf("%s is not declared: add %s to the builder of controller %q", printKind(e.GVK), e.Declaration, e.Controller)
}

// HealthCategory names the refusal a mistake of the program.
func (e *UndeclaredError) HealthCategory() string { return string(health.ProgramError) }

// HealthReason is the reason of the condition.
func (e *UndeclaredError) HealthReason() string { return reasonUndeclaredKind }

// printKind prints a kind as the watches table does: /v1/Namespace, apps/v1/Deployment.
func printKind(gvk schema.GroupVersionKind) string {
	return gvk.Group + "/" + gvk.Version + "/" + gvk.Kind
}
