package certificate

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watchPause is the delay between two watches of an object. An API server ends each watch after some minutes.
const watchPause = 2 * time.Second

// watch triggers an update when the Secret or a client changes. Each object has a separate watch by name, so that the
// permissions can be restricted to the name.
func (k *Keeper) watch(ctx context.Context, running *sync.WaitGroup) {
	running.Go(func() {
		k.watchObject(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, k.Service.Namespace, k.Service.Name)
	})
	for _, c := range k.Clients {
		running.Go(func() { k.watchObject(ctx, c.gvk(), "", c.Name) })
	}
}

func (k *Keeper) watchObject(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) {
	for ctx.Err() == nil {
		k.watchOnce(ctx, gvk, namespace, name)
		select {
		case <-ctx.Done():
		case <-time.After(watchPause):
		}
	}
}

// watchOnce watches the object until the watch ends. The first event is the current object.
func (k *Keeper) watchOnce(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	events, err := k.Client.Watch(ctx, list, client.InNamespace(namespace), client.MatchingFields{metav1.ObjectNameField: name})
	if err != nil {
		k.Logger.V(1).Info("cannot watch", "kind", gvk.Kind, "name", name, "error", err.Error())
		return
	}
	defer events.Stop()
	for range events.ResultChan() {
		select {
		case k.wake <- struct{}{}:
		default: // an update is already triggered
		}
	}
}
