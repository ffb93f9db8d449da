package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/rights"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/standin/ready"
)

// TestRights checks that the operator uses each of its generated permissions and needs no others.
func TestRights(t *testing.T) {
	env.Require(t)
	w := newRightsWorld(t)
	stop := w.start(t)

	one, two := w.service("one"), w.service("two")
	// One service owns every possible kind of child: a template, a cache, a route and an InferenceService. It also
	// shares a model.
	one.Spec.Overrides = &aimv1alpha1.AIMServiceOverrides{AIMRuntimeParameters: aimv1alpha1.AIMRuntimeParameters{
		Precision: new(aimv1alpha1.AIMPrecision("fp16")),
	}}
	one.Spec.Caching = &aimv1alpha1.AIMServiceCachingConfig{Mode: aimv1alpha1.CachingModeDedicated}
	w.create(t, one)
	w.serves(t, one)

	w.Without(t, "update aim.eai.amd.com/aimservices/finalizers", func() { w.create(t, two) })
	w.change(t, two, func() { two.Spec.Replicas = new(int32(2)) }) // retries the refused request
	w.serves(t, two)

	stop() // children planned by an earlier version exist when the operator starts again
	var old []client.Object
	for _, child := range w.children(t, one) {
		twin, err := rights.Outdated(child, "old", scheme)
		if err != nil {
			t.Fatal(err)
		}
		if err := rights.CreateOutdated(t.Context(), w, twin); err != nil {
			t.Fatal(err)
		}
		old = append(old, twin)
	}
	w.start(t)
	for _, twin := range old {
		gone(t, w.Client, twin)
	}
	for _, service := range []*aimv1alpha1.AIMService{one, two} {
		goes(t, w.Client, service)
	}
	w.Check(t, map[string]string{
		"patch events.k8s.io/events": "for a repeated event, tested in the library",
	})
}

// rightsWorld has a namespace and a service account for the operator with the generated permissions.
type rightsWorld struct {
	client.Client
	*environment.Rights
	namespace string
	requests  requests.Requests
}

func newRightsWorld(t *testing.T) *rightsWorld {
	t.Helper()
	w := &rightsWorld{Client: env.Client(), namespace: env.Namespace(t)}
	applyAll(t, w.Client, slices.DeleteFunc(manifests(t), func(file string) bool { return !strings.HasPrefix(file, "config/crd/") })...)
	page, err := aim().Page()
	if err != nil {
		t.Fatal(err)
	}
	w.Rights = env.Rights(t, page.Rules())
	w.requests.Inject(rights.RefusedOnce())
	model, err := aimservice.GenerateModelName(rightsImage)
	if err != nil {
		t.Fatal(err)
	}
	template := &aimv1alpha1.AIMServiceTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "base"}}
	template.Spec.ModelName = model
	template.Spec.ModelSources = []aimv1alpha1.AIMModelSource{{ModelID: "acme/rights", SourceURI: "hf://acme/rights"}}
	eventually(t, func() error { return w.Create(t.Context(), template) }) // retried until its kind is served
	return w
}

const rightsImage = "ghcr.io/acme/rights:1.0"

// service returns a service that creates its model and has a route.
func (w *rightsWorld) service(name string) *aimv1alpha1.AIMService {
	service := &aimv1alpha1.AIMService{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	service.Spec.Model.Image = new(rightsImage)
	service.Spec.Template.Name = "base"
	service.Spec.Routing = &aimv1alpha1.AIMRuntimeRoutingConfig{
		Enabled: new(true), GatewayRef: &gatewayv1.ParentReference{Name: "gw"}, PathTemplate: new("/{.metadata.namespace}/{.metadata.name}"),
	}
	return service
}

// start runs the operator with its permissions until the test ends or stop is called.
func (w *rightsWorld) start(t *testing.T) (stop func()) {
	t.Helper()
	o := aim()
	o.Config = w.requests.Observe(w.Config())
	o.Manager = func(options *manager.Options) { options.Controller.SkipNameValidation = new(true) } // two operators in one process
	args := []string{"-health-probe-bind-address=0", "-leader-elect", "-leader-election-namespace=" + w.namespace}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx, args, io.Discard, io.Discard) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the operator returned %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func (w *rightsWorld) create(t *testing.T, object client.Object) {
	t.Helper()
	if err := w.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// change updates an object and retries conflicts with the operator's writes.
func (w *rightsWorld) change(t *testing.T, object client.Object, edit func()) {
	t.Helper()
	eventually(t, func() error {
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		edit()
		return w.Update(t.Context(), object)
	})
}

// serves sets the status of the other controllers' objects until a service is ready.
func (w *rightsWorld) serves(t *testing.T, service *aimv1alpha1.AIMService) {
	t.Helper()
	eventually(t, func() error {
		if err := ready.Everything(t.Context(), w.Client); err != nil {
			return err
		}
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(service), service); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(service.Status.Conditions, "Ready") {
			return fmt.Errorf("service %s is not ready: %v", service.Name, service.Status.Conditions)
		}
		return nil
	})
}

// children returns the children of a service, one of each kind that it can own.
func (w *rightsWorld) children(t *testing.T, service *aimv1alpha1.AIMService) []client.Object {
	t.Helper()
	var children []client.Object
	for _, list := range []client.ObjectList{
		&kserve.InferenceServiceList{}, &gatewayv1.HTTPRouteList{}, &aimv1alpha1.AIMServiceTemplateList{}, &aimv1alpha1.AIMTemplateCacheList{},
	} {
		if err := w.List(t.Context(), list, client.InNamespace(w.namespace)); err != nil {
			t.Fatal(err)
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			t.Fatal(err)
		}
		own := 0
		for _, item := range items {
			if child, ok := item.(client.Object); ok && metav1.IsControlledBy(child, service) {
				children, own = append(children, child), own+1
			}
		}
		if own != 1 {
			t.Fatalf("service %s has %d children in %T, want 1", service.Name, own, list)
		}
	}
	return children
}
