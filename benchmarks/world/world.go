// Package world creates and changes the world that a subject has to reconcile. Its requests are those of the harness and are not counted.
package world

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/benchmarks/desired"
	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
	"github.com/reconcilekit/reconcilekit/benchmarks/worker"
)

// parallel is the number of concurrent requests of the harness.
const parallel = 8

// World is a namespace with owners.
type World struct {
	// Namespace is the namespace of all objects.
	Namespace string
	// Owners is the number of owners, Children the number of children of each.
	Owners, Children int

	client client.Client
}

// New creates a namespace with owners.
func New(ctx context.Context, config *rest.Config, namespace string, owners, children int) (*World, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	scheme, err := worker.Scheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	w := &World{Namespace: namespace, Owners: owners, Children: children, client: c}
	if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return nil, err
	}
	return w, each(owners, func(i int) error {
		owner := w.owner(i)
		owner.Spec = widget.Spec{Image: "registry.example/widget:v1", Count: children}
		return c.Create(ctx, owner)
	})
}

// Foreign creates unrelated Secrets and ConfigMaps of 1 KiB each.
func (w *World) Foreign(ctx context.Context, count int) error {
	text := strings.Repeat("x", 1<<10) //nolint:mnd // a KiB
	return each(count, func(i int) error {
		meta := metav1.ObjectMeta{Namespace: w.Namespace, Name: fmt.Sprintf("foreign-%06d", i)}
		if i%2 == 0 {
			return w.client.Create(ctx, &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"text": text}})
		}
		return w.client.Create(ctx, &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"text": text}})
	})
}

// Owner returns the key of owner number i.
func (w *World) Owner(i int) client.ObjectKey {
	return client.ObjectKey{Namespace: w.Namespace, Name: fmt.Sprintf("w%05d", i)}
}

func (w *World) owner(i int) *widget.Widget {
	key := w.Owner(i)
	return &widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
}

// child returns child number n of all, with only its name.
func (w *World) child(n int) client.Object {
	owner, i := w.owner(n/w.Children), n%w.Children
	child := desired.Kind(i)
	child.SetNamespace(w.Namespace)
	child.SetName(desired.ChildName(owner, i))
	return child
}

// SetImage changes the spec of every owner.
func (w *World) SetImage(ctx context.Context, image string) error {
	return w.patchOwners(ctx, fmt.Sprintf(`{"spec":{"image":%q}}`, image))
}

// SetCount changes the number of children of every owner.
func (w *World) SetCount(ctx context.Context, count int) error {
	return w.patchOwners(ctx, fmt.Sprintf(`{"spec":{"count":%d}}`, count))
}

func (w *World) patchOwners(ctx context.Context, patch string) error {
	return each(w.Owners, func(i int) error {
		return w.client.Patch(ctx, w.owner(i), client.RawPatch(types.MergePatchType, []byte(patch)))
	})
}

// Orphans counts the children beyond the first count of each owner.
func (w *World) Orphans(ctx context.Context, count int) (int, error) {
	total := 0
	for _, kind := range desired.Kinds() {
		list, err := w.list(ctx, kind)
		if err != nil {
			return 0, err
		}
		for i := range list.Items {
			if list.Items[i].DeletionTimestamp.IsZero() {
				total++
			}
		}
	}
	return total - w.Owners*count, nil
}

func (w *World) list(ctx context.Context, kind client.Object) (*metav1.PartialObjectMetadataList, error) {
	gvk, err := w.client.GroupVersionKindFor(kind)
	if err != nil {
		return nil, err
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk)
	return list, w.client.List(ctx, list, client.InNamespace(w.Namespace), client.HasLabels{desired.OwnerLabel})
}

// Remove deletes the namespace and all objects in it. It does not rely on a garbage collector.
func (w *World) Remove(ctx context.Context) error {
	errs := []error{w.client.DeleteAllOf(ctx, &widget.Widget{}, client.InNamespace(w.Namespace))}
	for _, kind := range desired.Kinds() {
		errs = append(errs, w.client.DeleteAllOf(ctx, kind, client.InNamespace(w.Namespace)))
	}
	var kept widget.WidgetList
	errs = append(errs, w.client.List(ctx, &kept, client.InNamespace(w.Namespace)))
	for i := range kept.Items {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		errs = append(errs, client.IgnoreNotFound(w.client.Patch(ctx, &kept.Items[i], patch)))
	}
	errs = append(errs, w.client.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}}))
	return errors.Join(errs...)
}

// each calls do for every number below n, several concurrently.
func each(n int, do func(i int) error) error {
	numbers := make(chan int)
	errs := make([]error, parallel)
	var running sync.WaitGroup
	for worker := range parallel {
		running.Go(func() {
			for i := range numbers {
				if err := do(i); err != nil && errs[worker] == nil {
					errs[worker] = err
				}
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	running.Wait()
	return errors.Join(errs...)
}
