package transport

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// funcs routes every method of a client through send.
func (w *Wire) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(
			ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption,
		) error {
			return w.send(ctx, w.call("get", "", obj, key, "", nil), func() error { return c.Get(ctx, key, obj, opts...) })
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			options := client.ListOptions{}
			options.ApplyOptions(opts)
			key := types.NamespacedName{Namespace: options.Namespace}
			return w.send(ctx, w.call("list", "", list, key, "", nil), func() error { return c.List(ctx, list, opts...) })
		},
		Watch: func(
			ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption,
		) (out watch.Interface, err error) {
			err = w.send(ctx, w.call("watch", "", list, types.NamespacedName{}, "", nil), func() (err error) {
				out, err = c.Watch(ctx, list, opts...)
				return err
			})
			return out, err
		},
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			options := (&client.CreateOptions{}).ApplyOptions(opts)
			call := w.About("create", "", obj, options.FieldManager, options.DryRun)
			call.made = obj
			return w.send(ctx, call, func() error { return c.Create(ctx, obj, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			options := (&client.UpdateOptions{}).ApplyOptions(opts)
			return w.send(ctx, w.About("update", "", obj, options.FieldManager, options.DryRun), func() error {
				return c.Update(ctx, obj, opts...)
			})
		},
		Patch: func(
			ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption,
		) error {
			options := (&client.PatchOptions{}).ApplyOptions(opts)
			return w.send(ctx, w.About(patchVerb(patch), "", obj, options.FieldManager, options.DryRun), func() error {
				return c.Patch(ctx, obj, patch, opts...)
			})
		},
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			options := (&client.ApplyOptions{}).ApplyOptions(opts)
			return w.send(ctx, w.applied("", obj, options), func() error { return c.Apply(ctx, obj, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			options := (&client.DeleteOptions{}).ApplyOptions(opts)
			return w.send(ctx, w.About("delete", "", obj, "", options.DryRun), func() error { return c.Delete(ctx, obj, opts...) })
		},
		DeleteAllOf: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteAllOfOption) error {
			options := (&client.DeleteAllOfOptions{}).ApplyOptions(opts)
			key := types.NamespacedName{Namespace: options.Namespace}
			return w.send(ctx, w.call("deletecollection", "", obj, key, "", options.DryRun), func() error {
				return c.DeleteAllOf(ctx, obj, opts...)
			})
		},
		SubResourceGet: func(
			ctx context.Context, c client.Client, name string, obj, sub client.Object, opts ...client.SubResourceGetOption,
		) error {
			return w.send(ctx, w.About("get", name, obj, "", nil), func() error {
				return c.SubResource(name).Get(ctx, obj, sub, opts...)
			})
		},
		SubResourceCreate: func(
			ctx context.Context, c client.Client, name string, obj, sub client.Object, opts ...client.SubResourceCreateOption,
		) error {
			return w.send(ctx, w.About("create", name, obj, "", nil), func() error {
				return c.SubResource(name).Create(ctx, obj, sub, opts...)
			})
		},
		SubResourceUpdate: func(
			ctx context.Context, c client.Client, name string, obj client.Object, opts ...client.SubResourceUpdateOption,
		) error {
			options := (&client.SubResourceUpdateOptions{}).ApplyOptions(opts)
			return w.send(ctx, w.About("update", name, obj, options.FieldManager, options.DryRun), func() error {
				return c.SubResource(name).Update(ctx, obj, opts...)
			})
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch,
			opts ...client.SubResourcePatchOption,
		) error {
			options := (&client.SubResourcePatchOptions{}).ApplyOptions(opts)
			return w.send(ctx, w.About(patchVerb(patch), name, obj, options.FieldManager, options.DryRun), func() error {
				return c.SubResource(name).Patch(ctx, obj, patch, opts...)
			})
		},
		SubResourceApply: func(
			ctx context.Context, c client.Client, name string, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption,
		) error {
			options := &client.SubResourceApplyOptions{}
			options.ApplyOpts(opts)
			return w.send(ctx, w.applied(name, obj, &options.ApplyOptions), func() error {
				return c.SubResource(name).Apply(ctx, obj, opts...)
			})
		},
	}
}

// applied describes a server-side apply of a generated configuration.
func (w *Wire) applied(subresource string, configuration runtime.ApplyConfiguration, options *client.ApplyOptions) Call {
	u := &unstructured.Unstructured{}
	if content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(configuration); err == nil {
		u.Object = content
	}
	return w.About("apply", subresource, u, options.FieldManager, options.DryRun)
}

// call describes a request about an object.
func (w *Wire) call(verb, subresource string, obj runtime.Object, key client.ObjectKey, manager string, dry []string) Call {
	gvk, err := apiutil.GVKForObject(obj, w.cluster.Scheme)
	if err != nil {
		gvk = obj.GetObjectKind().GroupVersionKind()
	}
	if list, ok := obj.(client.ObjectList); ok {
		if of, err := objects.ListedKind(list, w.cluster.Scheme); err == nil {
			gvk = of
		}
	}
	if namespaced, err := apiutil.IsGVKNamespaced(gvk, w.cluster.Mapper); err == nil && !namespaced {
		key.Namespace = ""
	}
	resource := w.cluster.Resource(gvk)
	var sent map[string]any
	if verb == "create" || verb == "apply" {
		if u, err := objects.ToUnstructured(obj, gvk); err == nil {
			sent = u.Object
		}
	}
	return Call{GVK: gvk, Key: key, Sent: sent, Request: requests.Request{
		Verb: verb, Group: resource.Group, Resource: resource.Resource, Subresource: subresource,
		Namespace: key.Namespace, Name: w.cluster.ShownAs(gvk.GroupKind(), key), FieldManager: manager, DryRun: len(dry) > 0,
	}}
}

// About describes a request about an object by its verb; dry are the options of a dry run.
func (w *Wire) About(verb, subresource string, obj client.Object, manager string, dry []string) Call {
	return w.call(verb, subresource, obj, client.ObjectKeyFromObject(obj), manager, dry)
}

func patchVerb(patch client.Patch) string {
	if patch.Type() == types.ApplyPatchType {
		return "apply"
	}
	return "patch"
}
