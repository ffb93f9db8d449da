package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// fieldManager is the field manager of the demo.
const fieldManager = "reconcilekit-demo"

// patience is the timeout for changes in the API server.
const patience = time.Minute

// factWithin is the timeout for each fact of a step.
const factWithin = 2 * time.Minute

// cluster reads and writes objects of any kind.
type cluster struct {
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

func connect(kubeconfig string) (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("load kubeconfig %s: %w", kubeconfig, err)
	}

	config.QPS, config.Burst = 200, 400

	d, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}

	discover, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}

	return &cluster{dynamic: d, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discover))}, nil
}

// resource returns the client for the objects of a kind in a namespace, which is ignored for cluster-scoped kinds.
func (c *cluster) resource(kind schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		// A CRD may have been installed since the mapper was filled.
		c.mapper.Reset()
		mapping, err = c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}

	if err != nil {
		return nil, err
	}

	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.dynamic.Resource(mapping.Resource), nil
	}

	return c.dynamic.Resource(mapping.Resource).Namespace(namespace), nil
}

// installedBy marks foreign CRDs that the demo installed, so that a later demo knows that no controller serves them.
const installedBy = "app.kubernetes.io/managed-by"

// installCRDs installs the product's CRDs, and missing foreign ones. It reports whether a foreign kind has no controller, because a demo
// installed its CRD. Existing foreign CRDs are not changed.
func (c *cluster) installCRDs(ctx context.Context, p product) (unserved bool, err error) {
	var installed []*unstructured.Unstructured

	for _, crd := range p.foreign {
		ours, err := c.installForeign(ctx, crd.object.DeepCopy())
		if err != nil {
			return false, err
		}

		unserved = unserved || ours

		installed = append(installed, crd.object)
	}

	for _, crd := range p.crds {
		if err := c.apply(ctx, crd.object); err != nil {
			return false, err
		}

		installed = append(installed, crd.object)
	}

	for _, crd := range installed {
		if err := c.await(ctx, crd, "Established"); err != nil {
			return false, err
		}
	}

	c.mapper.Reset()

	return unserved, nil
}

// installForeign creates a missing CRD, and reports whether the existing one was installed by a demo.
func (c *cluster) installForeign(ctx context.Context, crd *unstructured.Unstructured) (ours bool, err error) {
	labels := crd.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}

	labels[installedBy] = fieldManager
	crd.SetLabels(labels)

	client, err := c.resource(crd.GroupVersionKind(), "")
	if err != nil {
		return false, err
	}

	_, err = client.Create(ctx, crd, metav1.CreateOptions{FieldManager: fieldManager})
	if err == nil {
		return true, nil
	}

	if !apierrors.IsAlreadyExists(err) {
		return false, fmt.Errorf("install %s: %w", crd.GetName(), err)
	}

	there, err := client.Get(ctx, crd.GetName(), metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("read %s: %w", crd.GetName(), err)
	}

	return there.GetLabels()[installedBy] == fieldManager, nil
}

// await waits until a condition of the object is true.
func (c *cluster) await(ctx context.Context, object *unstructured.Unstructured, wanted string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	client, err := c.resource(object.GroupVersionKind(), object.GetNamespace())
	if err != nil {
		return err
	}

	for {
		got, err := client.Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("wait for %s %s: %w", object.GetKind(), object.GetName(), err)
		}

		if slices.ContainsFunc(conditionsOf(got), func(c condition) bool { return c.Type == wanted && c.Status == "True" }) {
			return nil
		}

		select {
		case <-ctx.Done():
			return fmt.Errorf("%s %s is not %s: %w", object.GetKind(), object.GetName(), wanted, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// apply applies one object, and waits for its kind if that is new.
func (c *cluster) apply(ctx context.Context, object *unstructured.Unstructured) error {
	deadline := time.Now().Add(patience)

	for {
		client, err := c.resource(object.GroupVersionKind(), object.GetNamespace())
		if err == nil {
			_, err = client.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
		}

		if err == nil {
			return nil
		}

		// An established CRD may still take a moment to be served.
		if !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) || time.Now().After(deadline) {
			return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
		}

		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// applyAll applies the manifests in order, each into its namespace, which is created if it is missing, or into default. It returns all
// objects, and the new ones among them.
func (c *cluster) applyAll(ctx context.Context, manifests []manifest) (applied, created []*unstructured.Unstructured, err error) {
	for _, m := range manifests {
		object := m.object.DeepCopy()

		mapping, err := c.mapper.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
		if err == nil && mapping.Scope.Name() == meta.RESTScopeNameNamespace && object.GetNamespace() == "" {
			object.SetNamespace(metav1.NamespaceDefault)
		}

		if err := c.ensureNamespace(ctx, object.GetNamespace()); err != nil {
			return applied, created, err
		}

		existed := c.exists(ctx, object)

		if err := c.apply(ctx, object); err != nil {
			return applied, created, err
		}

		applied = append(applied, object)
		if !existed {
			created = append(created, object)
		}
	}

	return applied, created, nil
}

// exists reports whether the object exists. On an error it returns true, so that the object is not deleted at the end.
func (c *cluster) exists(ctx context.Context, object *unstructured.Unstructured) bool {
	client, err := c.resource(object.GroupVersionKind(), object.GetNamespace())
	if err != nil {
		return true
	}

	_, err = client.Get(ctx, object.GetName(), metav1.GetOptions{})

	return !apierrors.IsNotFound(err)
}

func (c *cluster) ensureNamespace(ctx context.Context, name string) error {
	if name == "" || name == metav1.NamespaceDefault {
		return nil
	}

	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}

	client, err := c.resource(namespace.GroupVersionKind(), "")
	if err != nil {
		return err
	}

	_, err = client.Create(ctx, namespace, metav1.CreateOptions{FieldManager: fieldManager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}

	return nil
}

// deleteAll deletes objects, last first, and waits until they are deleted.
func (c *cluster) deleteAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	var failed error

	for _, object := range slices.Backward(objects) {
		if err := c.deleteOne(ctx, object); err != nil {
			failed = errors.Join(failed, fmt.Errorf("clean up %s %s: %w", object.GetKind(), object.GetName(), err))
		}
	}

	return failed
}

func (c *cluster) deleteOne(ctx context.Context, object *unstructured.Unstructured) error {
	client, err := c.resource(object.GroupVersionKind(), object.GetNamespace())
	if err != nil {
		return err
	}

	for {
		err := client.Delete(ctx, object.GetName(), metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}

		if err != nil {
			return err
		}

		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(300 * time.Millisecond):
		}
	}
}
