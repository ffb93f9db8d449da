package tracked

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/sparse"
)

const (
	// listInstead is the number of missing objects from which one list request replaces single reads.
	listInstead = 8
	// mostLists limits the retries of a list, because matching objects may be created meanwhile.
	mostLists = 4
)

// getWhole reads an object live if failed is a MetadataOnlyError, and adds it to the cache if the cache needs it.
func (c *Reads) getWhole(
	ctx context.Context, k *declaration.Kind, key client.ObjectKey, into client.Object, failed error, opts ...client.GetOption,
) error {
	for {
		only := (*sparse.MetadataOnlyError)(nil)
		if !errors.As(failed, &only) {
			return failed
		}
		waited, done, err := only.Turn(ctx)
		if err != nil {
			return fmt.Errorf("read %s %s: %w", declaration.Print(k.GroupVersionKind), key, err)
		}
		if !waited {
			defer done()
			return c.getLive(ctx, k, key, into, only)
		}
		done()
		failed = c.getCached(ctx, k, key, into, opts...)
		if failed == nil {
			return nil
		}
	}
}

// getLive reads an object from the API server.
func (c *Reads) getLive(ctx context.Context, k *declaration.Kind, key client.ObjectKey, into client.Object, only *sparse.MetadataOnlyError) error {
	object, err := c.live(ctx, k, key)
	if err != nil {
		return err
	}
	object.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind) // as in the cache
	kept, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("read %s %s: the copy of %T is no object", declaration.Print(k.GroupVersionKind), key, object)
	}
	if err := only.Keep(kept); err != nil {
		return err
	}
	if declaration.RepresentationOf(into) != k.Representation {
		return convert(object, into, k.GroupVersionKind)
	}
	to, from := reflect.ValueOf(into), reflect.ValueOf(object)
	if from.Type() != to.Type() {
		return fmt.Errorf("read %s %s into %T: want %T", declaration.Print(k.GroupVersionKind), key, into, object)
	}
	to.Elem().Set(from.Elem())
	return nil
}

// live reads an object from the API server with a list by name, because the cache of a kind requires only the permissions to list and
// watch.
func (c *Reads) live(ctx context.Context, k *declaration.Kind, key client.ObjectKey) (client.Object, error) {
	list, err := c.EmptyList(k)
	if err != nil {
		return nil, err
	}
	named := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", key.Name)}
	found, err := c.listLive(ctx, list, client.InNamespace(key.Namespace), named)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", declaration.Print(k.GroupVersionKind), key, err)
	}
	if object := found[k.Name(key)]; object != nil {
		return object, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: k.Group, Resource: k.Kind}, key.Name)
}

// listLive reads a list from the API server.
func (c *Reads) listLive(ctx context.Context, list client.ObjectList, opts ...client.ListOption) (map[types.NamespacedName]client.Object, error) {
	if err := c.answers.Live.List(ctx, list, opts...); err != nil {
		return nil, err
	}
	found := map[types.NamespacedName]client.Object{}
	err := meta.EachListItem(list, func(item runtime.Object) error {
		if object, ok := item.(client.Object); ok {
			found[client.ObjectKeyFromObject(object)] = object
		}
		return nil
	})
	return found, err
}

// listWhole reads live the objects of a list that the cache lacks, if failed is an error of missing content.
func (c *Reads) listWhole(
	ctx context.Context, k *declaration.Kind, into client.ObjectList, failed error, opts ...client.ListOption,
) error {
	var options client.ListOptions
	options.ApplyOptions(opts)
	if options.FieldSelector != nil && slices.ContainsFunc(options.FieldSelector.Requirements(), func(r fields.Requirement) bool {
		return k.Fields[r.Field] == nil // the list fails because an index is missing
	}) {
		return failed
	}
	namespace := k.Name(types.NamespacedName{Namespace: options.Namespace}).Namespace
	for range mostLists {
		missing := k.Link.Missing(namespace, func(o client.Object) bool { return selects(k, &options, o) })
		if err := c.fill(ctx, k, missing, namespace, &options); err != nil {
			return err
		}
		if failed = c.listCached(ctx, k, into, opts...); failed == nil {
			return nil
		}
	}
	return failed
}

// fill adds the missing objects of a list to the cache.
func (c *Reads) fill(ctx context.Context, k *declaration.Kind, missing []sparse.Absent, namespace string, options *client.ListOptions) error {
	if len(missing) > listInstead {
		list, err := c.EmptyList(k)
		if err != nil {
			return err
		}
		selected := []client.ListOption{client.InNamespace(namespace)}
		if options.LabelSelector != nil {
			selected = append(selected, client.MatchingLabelsSelector{Selector: options.LabelSelector})
		}
		found, err := c.listLive(ctx, list, selected...)
		if err != nil {
			return fmt.Errorf("list %s: %w", declaration.Print(k.GroupVersionKind), err)
		}
		missing = slices.DeleteFunc(missing, func(one sparse.Absent) bool {
			object := found[one.Key]
			if object != nil {
				one.Take(object)
			}
			return object != nil
		})
	}
	for _, one := range missing {
		object, err := c.live(ctx, k, one.Key)
		switch {
		case apierrors.IsNotFound(err):
			one.Gone()
		case err != nil:
			return err
		default:
			one.Take(object)
		}
	}
	return nil
}

// selects reports whether a list with the options includes the object, as far as the cached metadata shows.
func selects(k *declaration.Kind, options *client.ListOptions, object client.Object) bool {
	if options.LabelSelector != nil && !options.LabelSelector.Matches(labels.Set(object.GetLabels())) {
		return false
	}
	if options.FieldSelector == nil {
		return true
	}
	return !slices.ContainsFunc(options.FieldSelector.Requirements(), func(r fields.Requirement) bool {
		values, known := k.Field(object, r.Field)
		return known && !slices.Contains(values, r.Value) // the cache supports no other operator
	})
}
