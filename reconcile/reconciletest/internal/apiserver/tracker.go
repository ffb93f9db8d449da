package apiserver

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/apirules"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// tracker is the store below the fake client. It stores unstructured objects, so that no Go type adds fields, and implements for each
// write the features that the fake client lacks: UIDs, times, generations, defaults, field ownership by schema, and no new version for a
// write without changes. Callers hold the lock of the fake client.
type tracker struct {
	testing.ObjectTracker

	*Blueprint

	scheme *runtime.Scheme
	clock  clock.PassiveClock
	kinds  map[schema.GroupVersionResource]schema.GroupVersionKind

	used        map[schema.GroupVersionKind]bool // kinds that have had objects
	subresource string                           // of the current write
	revision    atomic.Uint64                    // grows with every change
	uids        int
	addresses   int
	reserved    map[string]types.UID // of the first object of a name, by name
}

type managerKey struct {
	gvk         schema.GroupVersionKind
	subresource string
}

var _ testing.ObjectTracker = (*tracker)(nil)

// Create stores a new object.
func (t *tracker) Create(
	gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.CreateOptions,
) error {
	u, err := t.content(gvr, obj)
	if err != nil {
		return err
	}
	if _, err := t.Get(gvr, ns, u.GetName()); err == nil {
		return apierrors.NewAlreadyExists(gvr.GroupResource(), u.GetName())
	}
	objects.Integers(u.Object) // as after a conversion to JSON
	t.birth(u)
	if err := t.valid(nil, u); err != nil {
		return err
	}
	if err := t.own(t.empty(u), u, single(opts).FieldManager); err != nil {
		return err
	}
	t.revision.Add(1)
	return t.ObjectTracker.Create(gvr, u, ns)
}

// Update replaces an object.
func (t *tracker) Update(
	gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.UpdateOptions,
) error {
	u, err := t.content(gvr, obj)
	if err != nil {
		return err
	}
	objects.Integers(u.Object)
	objects.DropNulls(u.Object) // the fake client sets a missing status to null
	old, err := t.stored(gvr, ns, u.GetName())
	if err != nil {
		return err
	}
	deleted := old.GetDeletionTimestamp() == nil && u.GetDeletionTimestamp() != nil // which does not change fields
	if err := t.grow(gvr, old, u); err != nil {
		return err
	}
	if deleted {
		u.SetManagedFields(old.GetManagedFields())
	} else if err := t.own(old, u, single(opts).FieldManager); err != nil {
		return err
	}
	return t.replace(gvr, ns, old, u)
}

// Patch stores the result of a patch.
func (t *tracker) Patch(
	gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.PatchOptions,
) error {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if old, err := t.stored(gvr, ns, u.GetName()); err == nil && u.GetUID() != "" && u.GetUID() != old.GetUID() {
			return immutableUID(u)
		}
	}
	return t.Update(gvr, obj, ns, metav1.UpdateOptions{FieldManager: single(opts).FieldManager})
}

// Apply merges an applied configuration by field ownership.
func (t *tracker) Apply(
	gvr schema.GroupVersionResource, configuration runtime.Object, ns string, opts ...metav1.PatchOptions,
) error {
	patch, err := t.content(gvr, configuration)
	if err != nil {
		return err
	}
	objects.Integers(patch.Object)
	options := single(opts)
	version := patch.GetResourceVersion()
	old, err := t.stored(gvr, ns, patch.GetName())
	exists := err == nil
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	live := old
	if !exists {
		live = t.empty(patch)
	} else if uid := patch.GetUID(); uid != "" && uid != old.GetUID() {
		return immutableUID(patch)
	}
	unstructured.RemoveNestedField(patch.Object, "metadata", "resourceVersion")
	patch.SetDeletionTimestamp(nil)
	if slices.Equal(patch.GetFinalizers(), []string{held}) {
		patch.SetFinalizers(nil)
	}
	if status, ok := patch.Object["status"]; ok && status == nil {
		delete(patch.Object, "status") // the fake client adds one to kinds without a status
	}
	manager, err := t.manager(patch.GroupVersionKind())
	if err != nil {
		return err
	}
	merged, err := manager.Apply(live, patch, options.FieldManager, options.Force != nil && *options.Force)
	if err != nil {
		return err
	}
	u, err := t.content(gvr, merged)
	if err != nil {
		return err
	}
	u.SetNamespace(ns)
	u.SetResourceVersion(version)
	if !exists {
		t.birth(u)
		if err := t.valid(nil, u); err != nil {
			return err
		}
		t.revision.Add(1)
		return t.ObjectTracker.Create(gvr, u, ns)
	}
	if err := t.grow(gvr, old, u); err != nil {
		return err
	}
	if u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0 {
		return t.Delete(gvr, ns, u.GetName())
	}
	return t.replace(gvr, ns, old, u)
}

// Delete removes an object permanently.
func (t *tracker) Delete(gvr schema.GroupVersionResource, ns, name string, opts ...metav1.DeleteOptions) error {
	t.revision.Add(1)
	return t.ObjectTracker.Delete(gvr, ns, name, opts...)
}

// replace stores the new object unless it equals the old one.
func (t *tracker) replace(gvr schema.GroupVersionResource, ns string, old, u *unstructured.Unstructured) error {
	if sameContent(old, u) {
		return nil
	}
	t.revision.Add(1)
	return t.ObjectTracker.Update(gvr, u, ns)
}

// birth sets the server's fields of a new object.
func (t *tracker) birth(u *unstructured.Unstructured) {
	gvk := u.GroupVersionKind()
	t.used[gvk] = true
	t.uids++
	u.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", t.uids)))
	if uid := t.reserved[objects.Name(gvk, types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()})]; uid != "" {
		u.SetUID(uid)
	}
	u.SetCreationTimestamp(metav1.NewTime(t.clock.Now()))
	u.SetDeletionTimestamp(nil)
	if t.withStatus[gvk] {
		delete(u.Object, "status")
	}
	if status := firstStatus(gvk); status != nil {
		u.Object["status"] = status
	}
	if hasGeneration(u) {
		u.SetGeneration(1)
	} else {
		unstructured.RemoveNestedField(u.Object, "metadata", "generation")
	}
	t.setDefaults(u)
}

// grow keeps the immutable fields and updates the generation.
func (t *tracker) grow(gvr schema.GroupVersionResource, old, u *unstructured.Unstructured) error {
	if uid := u.GetUID(); uid != "" && uid != old.GetUID() {
		return apierrors.NewConflict(gvr.GroupResource(), u.GetName(),
			fmt.Errorf("precondition failed: UID in precondition: %v, UID in object meta: %v", uid, old.GetUID()))
	}
	u.SetUID(old.GetUID())
	u.SetCreationTimestamp(old.GetCreationTimestamp())
	u.SetGeneration(old.GetGeneration())
	if old.GetDeletionTimestamp() != nil {
		u.SetDeletionTimestamp(old.GetDeletionTimestamp())
		u.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
		if more := added(old.GetFinalizers(), u.GetFinalizers()); len(more) > 0 {
			return apierrors.NewInvalid(u.GroupVersionKind().GroupKind(), u.GetName(), field.ErrorList{field.Forbidden(
				field.NewPath("metadata", "finalizers"),
				fmt.Sprintf("no new finalizers can be added if the object is being deleted, found new finalizers %q", more))})
		}
	} else if u.GetDeletionTimestamp() != nil {
		now := metav1.NewTime(t.clock.Now())
		u.SetDeletionTimestamp(&now)
		var grace int64
		u.SetDeletionGracePeriodSeconds(&grace)
		if hasGeneration(u) {
			u.SetGeneration(old.GetGeneration() + 1)
		}
	}
	t.setDefaults(u)
	if hasGeneration(u) && !sameSpec(old, u) {
		u.SetGeneration(old.GetGeneration() + 1)
	}
	return t.valid(old, u)
}

// valid validates an object as an API server does.
func (t *tracker) valid(old, u *unstructured.Unstructured) error {
	errs := apirules.Validate(old, u)
	errs = append(errs, t.bySchema(old, u)...)
	if len(errs) > 0 {
		return apierrors.NewInvalid(u.GroupVersionKind().GroupKind(), u.GetName(), errs)
	}
	return nil
}

// bySchema returns the errors by the schema of a custom resource's definition. They do not block a deletion.
func (t *tracker) bySchema(old, u *unstructured.Unstructured) field.ErrorList {
	schema, ctx := t.schemas[u.GroupVersionKind()], context.Background()
	switch {
	case schema == nil:
		return nil
	case old == nil:
		return schema.Validate(ctx, u.Object)
	case old.GetDeletionTimestamp() == nil && u.GetDeletionTimestamp() != nil:
		return nil
	case t.subresource == "status" && t.withStatus[u.GroupVersionKind()]:
		return schema.ValidateStatus(ctx, old.Object, u.Object)
	}
	return schema.ValidateUpdate(ctx, old.Object, u.Object)
}

// own updates the managed fields for a write other than an apply.
func (t *tracker) own(old, u *unstructured.Unstructured, fieldManager string) error {
	if fieldManager == "" {
		fieldManager = defaultFieldManager
	}
	manager, err := t.manager(u.GroupVersionKind())
	if err != nil {
		return err
	}
	managed, err := manager.Update(old, u, fieldManager)
	if err != nil {
		return fmt.Errorf("field ownership of %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	if m, ok := managed.(*unstructured.Unstructured); ok {
		u.Object = m.Object
	}
	return nil
}

// defaultFieldManager is the manager of writes without one; a real server uses the name of the client's program.
const defaultFieldManager = "reconciletest"

func (t *tracker) manager(gvk schema.GroupVersionKind) (*managedfields.FieldManager, error) {
	key := managerKey{gvk, t.subresource}
	if m, known := t.managers.Load(key); known {
		return m.(*managedfields.FieldManager), nil //nolint:forcetypeassert // nothing else is stored
	}
	var reset map[fieldpath.APIVersion]fieldpath.Filter
	version := fieldpath.APIVersion(gvk.GroupVersion().String())
	if t.withStatus[gvk] {
		dropped := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
		if t.subresource == "status" {
			dropped = fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"))
		}
		reset = map[fieldpath.APIVersion]fieldpath.Filter{version: fieldpath.NewExcludeSetFilter(dropped)}
	}
	m, err := managedfields.NewDefaultFieldManager(
		t.converter, identity{}, noDefaults{}, creates{}, gvk, gvk.GroupVersion(), t.subresource, reset)
	if err != nil {
		return nil, fmt.Errorf("field manager of %s: %w", gvk, err)
	}
	t.managers.Store(key, m)
	return m, nil
}

// identity, noDefaults and creates implement the scheme interfaces of a field manager; there is one version of each kind.
type (
	identity   struct{}
	noDefaults struct{}
	creates    struct{}
)

func (identity) Convert(in, out, _ any) error {
	return fmt.Errorf("fake API server: no conversion from %T to %T", in, out)
}

func (identity) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (identity) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (noDefaults) Default(runtime.Object) {}

func (creates) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

func (t *tracker) empty(like *unstructured.Unstructured) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(like.GroupVersionKind())
	return u
}

func (t *tracker) stored(gvr schema.GroupVersionResource, ns, name string) (*unstructured.Unstructured, error) {
	obj, err := t.Get(gvr, ns, name)
	if err != nil {
		return nil, err
	}
	return t.content(gvr, obj)
}

// content returns the object with its kind set, which the fake client sometimes removes.
func (t *tracker) content(gvr schema.GroupVersionResource, obj runtime.Object) (*unstructured.Unstructured, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("fake API server: %s arrived as %T", gvr.Resource, obj)
	}
	if gvk, known := t.kinds[gvr]; known {
		u.SetGroupVersionKind(gvk)
	}
	return u, nil
}

// register adds a kind to the store.
func (t *tracker) register(gvk schema.GroupVersionKind) {
	gvr := storedAs(gvk)
	if _, known := t.kinds[gvr]; known {
		return
	}
	t.kinds[gvr] = gvk
	t.scheme.AddKnownTypeWithName(gvk, &unstructured.Unstructured{})
	t.scheme.AddKnownTypeWithName(gvk.GroupVersion().WithKind(gvk.Kind+"List"), &unstructured.UnstructuredList{})
}

// hasGeneration reports whether the server counts generations for a kind: those with a spec, except for a few old ones.
func hasGeneration(u *unstructured.Unstructured) bool {
	gvk := u.GroupVersionKind()
	if gvk.Group == "" {
		return gvk.Kind == "Pod" || gvk.Kind == "ReplicationController"
	}
	switch gvk.Group {
	case "rbac.authorization.k8s.io", "storage.k8s.io", "coordination.k8s.io", "events.k8s.io", "scheduling.k8s.io":
		return false
	}
	return true
}

// sameSpec compares everything except metadata and status.
func sameSpec(a, b *unstructured.Unstructured) bool {
	return objects.Equal(objects.Without(a.Object, "metadata", "status"), objects.Without(b.Object, "metadata", "status"))
}

// sameContent compares everything except the version and the times in managed fields.
func sameContent(a, b *unstructured.Unstructured) bool {
	return objects.Equal(timeless(a), timeless(b))
}

func timeless(u *unstructured.Unstructured) map[string]any {
	out := objects.Without(u.Object)
	metadata, _ := u.Object["metadata"].(map[string]any)
	kept := objects.Without(metadata, "resourceVersion", "managedFields")
	out["metadata"] = kept
	entries, _ := metadata["managedFields"].([]any)
	fields := make([]any, 0, len(entries))
	for _, entry := range entries {
		if m, ok := entry.(map[string]any); ok {
			fields = append(fields, objects.Without(m, "time"))
		}
	}
	kept["managedFields"] = fields
	return out
}

func single[T any](opts []T) T {
	var zero T
	if len(opts) == 0 {
		return zero
	}
	return opts[0]
}

// storedAs returns the key of a kind in the fake client: always the guess of apimachinery, regardless of the mapper.
func storedAs(gvk schema.GroupVersionKind) schema.GroupVersionResource {
	gvr, _ := meta.UnsafeGuessKindToResource(gvk)
	return gvr
}
