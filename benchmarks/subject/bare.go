package subject

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/benchmarks/desired"
	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

// inFlight is the number of concurrent writes of one owner's children: the default of the apply engine.
const inFlight = 4

// waves returns the kinds in the order of the apply engine: a wave starts when the previous one is written.
func waves() [][]string {
	return [][]string{{"ServiceAccount"}, {"ConfigMap", "Secret"}, {"Service"}, {"Deployment"}}
}

// bare sends the requests that reconcilekit sends for an owner without children, as fast as possible: one patch of the owner's metadata,
// one apply for each child, one status. It reads nothing and decodes no response. It reconciles each owner only once.
type bare struct {
	reader  client.Reader
	ordered bool          // in waves
	creator client.Writer // creates children; nil applies them
	clients map[schema.GroupVersion]*rest.RESTClient

	mu   sync.Mutex
	done map[types.UID]bool
}

func newBareClient(env Environment) (reconcile.Reconciler, error) { return newBare(env, true, nil) }

func newUnorderedClient(env Environment) (reconcile.Reconciler, error) {
	return newBare(env, false, nil)
}

func newCreatingClient(env Environment) (reconcile.Reconciler, error) {
	return newBare(env, false, env.Client)
}

func newBare(env Environment, ordered bool, creator client.Writer) (reconcile.Reconciler, error) {
	b := &bare{reader: env.Client, ordered: ordered, creator: creator, clients: map[schema.GroupVersion]*rest.RESTClient{}, done: map[types.UID]bool{}}
	for _, gv := range []schema.GroupVersion{{Version: "v1"}, {Group: "apps", Version: "v1"}, widget.GroupVersion} {
		config := rest.CopyConfig(env.Config)
		config.GroupVersion, config.APIPath = &gv, "/apis"
		if gv.Group == "" {
			config.APIPath = "/api"
		}
		config.NegotiatedSerializer = serializer.WithoutConversionCodecFactory{CodecFactory: scheme.Codecs}
		c, err := rest.RESTClientForConfigAndClient(config, env.HTTP)
		if err != nil {
			return nil, err
		}
		b.clients[gv] = c
	}
	return b, nil
}

// Reconcile writes the children and the status of an owner once.
func (b *bare) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	owner := &widget.Widget{}
	if err := b.reader.Get(ctx, request.NamespacedName, owner); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !b.first(owner.UID) {
		return reconcile.Result{}, nil
	}
	if err := b.metadata(ctx, owner); err != nil {
		return reconcile.Result{}, err
	}
	if err := b.children(ctx, owner); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, b.status(ctx, owner)
}

func (b *bare) first(uid types.UID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done[uid] {
		return false
	}
	b.done[uid] = true
	return true
}

// metadata writes an inventory as defined by KEP-3659.
func (b *bare) metadata(ctx context.Context, owner *widget.Widget) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":             owner.UID,
		"resourceVersion": owner.ResourceVersion,
		"labels":          map[string]string{"applyset.kubernetes.io/id": "applyset-" + string(owner.UID)},
		"annotations": map[string]string{
			"applyset.kubernetes.io/tooling":              "benchmark/v1",
			"applyset.kubernetes.io/contains-group-kinds": "ConfigMap,Deployment.apps,Secret,Service,ServiceAccount",
		},
	}})
	if err != nil {
		return err
	}
	return b.clients[widget.GroupVersion].Patch(types.MergePatchType).Resource("widgets").Namespace(owner.Namespace).Name(owner.Name).
		Param("fieldManager", FieldManager).Body(body).Do(ctx).Error()
}

// children writes all children, in waves or in any order.
func (b *bare) children(ctx context.Context, owner *widget.Widget) error {
	children := desired.Children(owner)
	if !b.ordered {
		return b.wave(ctx, owner, children)
	}
	for _, kinds := range waves() {
		var wave []client.Object
		for _, child := range children {
			if slices.Contains(kinds, child.GetObjectKind().GroupVersionKind().Kind) {
				wave = append(wave, child)
			}
		}
		if err := b.wave(ctx, owner, wave); err != nil {
			return err
		}
	}
	return nil
}

func (b *bare) wave(ctx context.Context, owner *widget.Widget, children []client.Object) error {
	errs := make([]error, len(children))
	slots := make(chan struct{}, inFlight)
	var running sync.WaitGroup
	for i, child := range children {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			errs[i] = b.child(ctx, owner, child)
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

func (b *bare) child(ctx context.Context, owner *widget.Widget, child client.Object) error {
	if b.creator != nil {
		child.SetOwnerReferences(controllerOf(owner))
		return b.creator.Create(ctx, child, client.FieldOwner(FieldManager))
	}
	fields, err := intent(child, owner)
	if err != nil {
		return err
	}
	body, err := json.Marshal(fields.Object)
	if err != nil {
		return err
	}
	gvk := fields.GroupVersionKind()
	resource := map[string]string{
		"Deployment": "deployments", "Service": "services", "ConfigMap": "configmaps",
		"ServiceAccount": "serviceaccounts", "Secret": "secrets",
	}[gvk.Kind]
	err = b.clients[gvk.GroupVersion()].Patch(types.ApplyYAMLPatchType).Resource(resource).
		Namespace(fields.GetNamespace()).Name(fields.GetName()).
		Param("fieldManager", FieldManager).Body(body).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", gvk.Kind, fields.GetName(), err)
	}
	return nil
}

func (b *bare) status(ctx context.Context, owner *widget.Widget) error {
	after := owner.DeepCopy()
	setReady(after, nil)
	fields, err := statusIntent(after)
	if err != nil {
		return err
	}
	body, err := json.Marshal(fields.Object)
	if err != nil {
		return err
	}
	return b.clients[widget.GroupVersion].Patch(types.ApplyYAMLPatchType).Resource("widgets").Namespace(owner.Namespace).
		Name(owner.Name).SubResource("status").Param("fieldManager", FieldManager).Param("force", "true").Body(body).Do(ctx).Error()
}
