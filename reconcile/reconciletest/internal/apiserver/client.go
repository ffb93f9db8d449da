package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// funcs returns the methods of the fake server's client. Each converts to the store's representation and back.
func (w *Server) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			return w.get(key, obj)
		},
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			return w.listInto(list, opts)
		},
		Watch: func(
			ctx context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption,
		) (watch.Interface, error) {
			return w.watch(ctx, list, opts)
		},
		Create: func(ctx context.Context, _ client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			return w.create(ctx, obj, (&client.CreateOptions{}).ApplyOptions(opts))
		},
		Update: func(ctx context.Context, _ client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			options := &client.UpdateOptions{}
			return w.update(ctx, obj, "", options.ApplyOptions(opts))
		},
		Patch: func(
			ctx context.Context, _ client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption,
		) error {
			options := &client.PatchOptions{}
			return w.patch(ctx, obj, patch, "", options.ApplyOptions(opts))
		},
		Apply: func(ctx context.Context, _ client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			options := &client.ApplyOptions{}
			return w.apply(ctx, obj, "", options.ApplyOptions(opts))
		},
		Delete: func(ctx context.Context, _ client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			options := &client.DeleteOptions{}
			return w.delete(ctx, obj, options.ApplyOptions(opts))
		},
		DeleteAllOf: func(ctx context.Context, _ client.WithWatch, obj client.Object, opts ...client.DeleteAllOfOption) error {
			options := &client.DeleteAllOfOptions{}
			return w.deleteAll(ctx, obj, options.ApplyOptions(opts))
		},
		SubResourceUpdate: func(
			ctx context.Context, _ client.Client, name string, obj client.Object, opts ...client.SubResourceUpdateOption,
		) error {
			options := &client.SubResourceUpdateOptions{}
			options.ApplyOptions(opts)
			if options.SubResourceBody != nil {
				obj = options.SubResourceBody
			}
			return w.update(ctx, obj, name, &options.UpdateOptions)
		},
		SubResourcePatch: func(
			ctx context.Context, _ client.Client, name string, obj client.Object, patch client.Patch,
			opts ...client.SubResourcePatchOption,
		) error {
			options := &client.SubResourcePatchOptions{}
			options.ApplyOptions(opts)
			if options.SubResourceBody != nil {
				obj = options.SubResourceBody
			}
			return w.patch(ctx, obj, patch, name, &options.PatchOptions)
		},
		SubResourceApply: func(
			ctx context.Context, _ client.Client, name string, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption,
		) error {
			options := &client.SubResourceApplyOptions{}
			options.ApplyOpts(opts)
			return w.apply(ctx, obj, name, &options.ApplyOptions)
		},
	}
}

func (w *Server) get(key client.ObjectKey, obj client.Object) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, gvk, err := w.unstructuredOf(obj)
	if err != nil {
		return err
	}
	if err := w.placed(gvk, "get", key); err != nil {
		return err
	}
	current := w.current(gvk, key)
	if current == nil {
		return apierrors.NewNotFound(w.resource(gvk), key.Name)
	}
	return objects.FromUnstructured(current, obj)
}

func (w *Server) listInto(list client.ObjectList, opts []client.ListOption) error {
	gvk, err := objects.ListedKind(list, w.scheme)
	if err != nil {
		return err
	}
	selects, err := selection(opts)
	if err != nil {
		return err
	}
	items, err := w.List(gvk)
	if err != nil {
		return err
	}
	var chosen []runtime.Object
	for _, key := range objects.SortedKeys(items) {
		if !selects(key, items[key]) {
			continue
		}
		item, err := w.represent(list, items[key])
		if err != nil {
			return err
		}
		chosen = append(chosen, item)
	}
	return meta.SetList(list, chosen)
}

// newItem returns an empty element of a list.
func newItem(list client.ObjectList, gvk schema.GroupVersionKind, scheme *runtime.Scheme) (client.Object, error) {
	switch list.(type) {
	case *unstructured.UnstructuredList:
		return &unstructured.Unstructured{}, nil
	case *metav1.PartialObjectMetadataList:
		return &metav1.PartialObjectMetadata{}, nil
	}
	obj, err := scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	item, ok := obj.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%s: %T has no object metadata", gvk, obj)
	}
	return item, nil
}

func (w *Server) create(ctx context.Context, obj client.Object, options *client.CreateOptions) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	u, gvk, err := w.unstructuredOf(obj)
	if err != nil {
		return err
	}
	if err := w.placed(gvk, "create", client.ObjectKeyFromObject(u)); err != nil {
		return err
	}
	dry := options.DryRun
	options.DryRun = nil
	if err := w.write(gvk, u, "", dry, func() error { return w.store.Create(ctx, u, options) }); err != nil {
		return err
	}
	return objects.FromUnstructured(u, obj)
}

func (w *Server) update(ctx context.Context, obj client.Object, subresource string, options *client.UpdateOptions) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	u, gvk, err := w.unstructuredOf(obj)
	if err != nil {
		return err
	}
	if err := w.placed(gvk, "update", client.ObjectKeyFromObject(u)); err != nil {
		return err
	}
	if err := w.guard(gvk, u, subresource); err != nil {
		return err
	}
	if err := w.replace(ctx, gvk, u, subresource, options); err != nil {
		return err
	}
	return objects.FromUnstructured(u, obj)
}

func (w *Server) replace(
	ctx context.Context, gvk schema.GroupVersionKind, u *unstructured.Unstructured, subresource string,
	options *client.UpdateOptions,
) error {
	dry := options.DryRun
	options.DryRun = nil
	return w.write(gvk, u, subresource, dry, func() error {
		if subresource != "" {
			return w.store.SubResource(subresource).Update(ctx, u, &client.SubResourceUpdateOptions{UpdateOptions: *options})
		}
		return w.store.Update(ctx, u, options)
	})
}

func (w *Server) patch(
	ctx context.Context, obj client.Object, patch client.Patch, subresource string, options *client.PatchOptions,
) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	data, err := patch.Data(obj)
	if err != nil {
		return err
	}
	u, gvk, err := w.unstructuredOf(obj)
	if err != nil {
		return err
	}
	if err := w.placed(gvk, "patch", client.ObjectKeyFromObject(u)); err != nil {
		return err
	}
	dry := options.DryRun
	options.DryRun = nil
	if patch.Type() == types.StrategicMergePatchType {
		if u, err = w.strategic(gvk, u, data); err != nil {
			return err
		}
		update := &client.UpdateOptions{DryRun: dry, FieldManager: options.FieldManager}
		if err := w.replace(ctx, gvk, u, subresource, update); err != nil {
			return err
		}
		return objects.FromUnstructured(u, obj)
	}
	if u, patch, err = prepare(u, patch.Type(), data); err != nil {
		return err
	}
	going := patch.Type() == types.ApplyPatchType && w.hold(gvk, u)
	err = w.write(gvk, u, subresource, dry, func() error {
		if subresource != "" {
			return w.store.SubResource(subresource).Patch(ctx, u, patch, &client.SubResourcePatchOptions{PatchOptions: *options})
		}
		return w.store.Patch(ctx, u, patch, options)
	})
	if going && apierrors.IsNotFound(err) {
		return nil // the apply removed the last finalizer
	}
	if answered := apierrors.APIStatus(nil); err != nil && patch.Type() == types.JSONPatchType && !errors.As(err, &answered) {
		return apierrors.NewInvalid(gvk.GroupKind(), u.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("patch"), string(data), err.Error()),
		})
	}
	if err != nil {
		return err
	}
	return objects.FromUnstructured(u, obj)
}

// prepare returns the object for the call of the store's client: for an apply the configuration itself, for other patches only its name.
func prepare(
	u *unstructured.Unstructured, kind types.PatchType, data []byte,
) (*unstructured.Unstructured, client.Patch, error) {
	target := &unstructured.Unstructured{}
	if kind == types.ApplyPatchType {
		if err := yaml.Unmarshal(data, &target.Object); err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
		}
		objects.Integers(target.Object)
	}
	target.SetGroupVersionKind(u.GroupVersionKind())
	target.SetName(u.GetName())
	target.SetNamespace(u.GetNamespace())
	if kind == types.ApplyPatchType {
		return target, client.Apply, nil //nolint:staticcheck // the fake client has to see the object that it may create
	}
	return target, client.RawPatch(kind, data), nil
}

// strategic applies a strategic merge patch. Its rules are tags of Go types, which only built-in kinds have.
func (w *Server) strategic(
	gvk schema.GroupVersionKind, u *unstructured.Unstructured, data []byte,
) (*unstructured.Unstructured, error) {
	current := w.current(gvk, client.ObjectKeyFromObject(u))
	if current == nil {
		return nil, apierrors.NewNotFound(w.resource(gvk), u.GetName())
	}
	model, err := clientgoscheme.Scheme.New(gvk)
	if err != nil {
		return nil, apierrors.NewGenericServerResponse(415, "patch", w.resource(gvk), u.GetName(),
			"strategic merge patches need a built-in kind", 0, true)
	}
	old, err := json.Marshal(current.Object)
	if err != nil {
		return nil, err
	}
	merged, err := strategicpatch.StrategicMergePatch(old, data, model)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	out := &unstructured.Unstructured{}
	return out, out.UnmarshalJSON(merged)
}

func (w *Server) apply(
	ctx context.Context, configuration runtime.ApplyConfiguration, subresource string, options *client.ApplyOptions,
) error {
	data, err := json.Marshal(configuration)
	if err != nil {
		return fmt.Errorf("encode the apply configuration: %w", err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil {
		return fmt.Errorf("decode the apply configuration: %w", err)
	}
	patch := &client.PatchOptions{DryRun: options.DryRun, Force: options.Force, FieldManager: options.FieldManager}
	if err := w.patch(ctx, u, client.RawPatch(types.ApplyPatchType, data), subresource, patch); err != nil {
		return err
	}
	if data, err = json.Marshal(u.Object); err != nil {
		return err
	}
	return json.Unmarshal(data, configuration)
}

func (w *Server) delete(ctx context.Context, obj client.Object, options *client.DeleteOptions) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	u, gvk, err := w.unstructuredOf(obj)
	if err != nil {
		return err
	}
	if err := w.placed(gvk, "delete", client.ObjectKeyFromObject(u)); err != nil {
		return err
	}
	current := w.current(gvk, client.ObjectKeyFromObject(u))
	if current == nil {
		return apierrors.NewNotFound(w.resource(gvk), u.GetName())
	}
	if err := precondition(w.resource(gvk), current, options.Preconditions); err != nil {
		return err
	}
	if len(options.DryRun) > 0 {
		return nil
	}
	return w.write(gvk, u, "", nil, func() error { return w.store.Delete(ctx, u) })
}

func (w *Server) deleteAll(ctx context.Context, obj client.Object, options *client.DeleteAllOfOptions) error {
	gvk, err := apiutil.GVKForObject(obj, w.scheme)
	if err != nil {
		return err
	}
	selects, err := selection([]client.ListOption{&options.ListOptions})
	if err != nil {
		return err
	}
	items, err := w.List(gvk)
	if err != nil {
		return err
	}
	for _, key := range objects.SortedKeys(items) {
		if !selects(key, items[key]) {
			continue
		}
		if err := w.delete(ctx, items[key], &options.DeleteOptions); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}
