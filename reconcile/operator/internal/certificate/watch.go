package certificate

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watchPause is the wait between two watches of an object: an API server ends each after some minutes.
const watchPause = 2 * time.Second

// watch lets a look follow whenever the Secret or a client changes. Each object has a watch of its own, by its name, so that the rights
// can name it.
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

// watchOnce returns when the watch ends. Its first event is the object as it is.
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
		default: // a look follows anyhow
		}
	}
}
