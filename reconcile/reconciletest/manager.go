package reconciletest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlrecorder "sigs.k8s.io/controller-runtime/pkg/recorder"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/passlog"
)

// testManager is the manager that [System.Setup] gets: the parts of a real one that controllers see, over the world.
type testManager struct {
	world     *world
	view      *view
	wire      *wire
	client    client.Client
	runnables []manager.Runnable
	webhooks  webhook.Server
	converter conversion.Registry
	elected   chan struct{}
	record    func(Event)
	log       *passlog.Log
}

var _ manager.Manager = (*testManager)(nil)

func newManager(w *world, v *view, wire *wire, record func(Event), log *passlog.Log) *testManager {
	elected := make(chan struct{})
	close(elected)
	return &testManager{
		world: w, view: v, wire: wire, client: &cachedClient{Client: wire.client, cache: v}, elected: elected,
		converter: conversion.NewRegistry(), record: record, log: log,
	}
}

// cachedClient reads from the cache as a manager's client does: all but unstructured objects.
type cachedClient struct {
	client.Client
	cache client.Reader
}

func (c *cachedClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if _, live := obj.(runtime.Unstructured); live {
		return c.Client.Get(ctx, key, obj, opts...)
	}
	return c.cache.Get(ctx, key, obj, opts...)
}

func (c *cachedClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, live := list.(runtime.Unstructured); live {
		return c.Client.List(ctx, list, opts...)
	}
	return c.cache.List(ctx, list, opts...)
}

// Add takes a controller or another runnable; all start when Setup has returned.
func (m *testManager) Add(runnable manager.Runnable) error {
	m.runnables = append(m.runnables, runnable)
	return nil
}

// GetClock is the clock of the test, which moves only when nothing is left to do.
func (m *testManager) GetClock() clock.PassiveClock { return m.world.clock }

func (m *testManager) GetCache() cache.Cache                     { return m.view }
func (m *testManager) GetClient() client.Client                  { return m.client }
func (m *testManager) GetAPIReader() client.Reader               { return m.wire.client }
func (m *testManager) GetScheme() *runtime.Scheme                { return m.world.scheme }
func (m *testManager) GetRESTMapper() meta.RESTMapper            { return m.world.mapper }
func (m *testManager) GetFieldIndexer() client.FieldIndexer      { return m.view }
func (m *testManager) GetLogger() logr.Logger                    { return m.log.Logger() }
func (m *testManager) Elected() <-chan struct{}                  { return m.elected }
func (m *testManager) GetConverterRegistry() conversion.Registry { return m.converter }

// AddMetricsServerExtraHandler, AddHealthzCheck and AddReadyzCheck accept what nobody will ask for.
func (*testManager) AddMetricsServerExtraHandler(string, http.Handler) error { return nil }

// AddHealthzCheck implements manager.Manager.
func (*testManager) AddHealthzCheck(string, healthz.Checker) error { return nil }

// AddReadyzCheck implements manager.Manager.
func (*testManager) AddReadyzCheck(string, healthz.Checker) error { return nil }

// Start blocks until the context ends; the test starts what was added.
func (*testManager) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// GetWebhookServer returns a server that is never started.
func (m *testManager) GetWebhookServer() webhook.Server {
	if m.webhooks == nil {
		m.webhooks = webhook.NewServer(webhook.Options{})
	}
	return m.webhooks
}

// GetControllerOptions lets every instance use the same names again.
func (*testManager) GetControllerOptions() config.Controller {
	yes := true
	return config.Controller{SkipNameValidation: &yes, CacheSyncTimeout: startTimeout}
}

// GetConfig answers discovery only: all else goes through GetClient and GetAPIReader.
func (m *testManager) GetConfig() *rest.Config {
	if m.world.fake == nil {
		return m.world.system.Environment.Config()
	}
	return &rest.Config{Host: "http://fake.invalid", Transport: discovery{m.world}}
}

// GetHTTPClient goes with GetConfig.
func (m *testManager) GetHTTPClient() *http.Client {
	if m.world.fake == nil {
		if c, err := rest.HTTPClientFor(m.GetConfig()); err == nil {
			return c
		}
	}
	return &http.Client{Transport: discovery{m.world}}
}

// discovery is a transport that knows the kinds of the fake world.
type discovery struct{ world *world }

// RoundTrip answers /api/v1 and /apis/<group>/<version>.
func (d discovery) RoundTrip(request *http.Request) (*http.Response, error) {
	path := strings.Trim(request.URL.Path, "/")
	version := strings.TrimPrefix(strings.TrimPrefix(path, "apis/"), "api/")
	list := metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version,
	}
	gv, err := schema.ParseGroupVersion(version)
	for _, gvk := range d.world.fake.Kinds() {
		if err == nil && gvk.GroupVersion() == gv {
			one := metav1.APIResource{Name: d.world.resource(gvk).Resource, Kind: gvk.Kind, Namespaced: !d.world.fake.ClusterScoped(gvk)}
			list.APIResources = append(list.APIResources, one)
			one.Name += "/status"
			list.APIResources = append(list.APIResources, one)
		}
	}
	code := http.StatusOK
	var body any = list
	if len(list.APIResources) == 0 {
		code = http.StatusNotFound
		body = metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: path + " not found",
		}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: code, Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), Request: request,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(data)), ContentLength: int64(len(data)),
	}, nil
}

// Event is an event that a controller has announced.
type Event struct {
	// Object names what it is about, for example "Website default/shop".
	Object string
	// Type is Normal or Warning.
	Type string
	// Reason is one word in CamelCase, Message a sentence.
	Reason, Message string
}

// repeats reports that another event has announced the same before, in words that may differ in numbers.
func (e Event) repeats(other Event) bool {
	return e.Object == other.Object && e.Type == other.Type && e.Reason == other.Reason
}

// recorders announce to the test. The old and the new API differ in their arguments only.
type (
	oldRecorder struct{ manager *testManager }
	newRecorder struct{ manager *testManager }
)

var (
	_ record.EventRecorder       = oldRecorder{}
	_ ctrlrecorder.EventRecorder = newRecorder{}
)

// GetEventRecorderFor implements recorder.Provider.
func (m *testManager) GetEventRecorderFor(string) record.EventRecorder { return oldRecorder{m} }

// GetEventRecorder implements recorder.Provider.
func (m *testManager) GetEventRecorder(string) ctrlrecorder.EventRecorder { return newRecorder{m} }

func (m *testManager) announce(object runtime.Object, eventType, reason, message string) {
	name := fmt.Sprintf("%T", object)
	if obj, ok := object.(client.Object); ok {
		name = objects.Name(m.wire.about("", "", obj, "", nil).gvk, client.ObjectKeyFromObject(obj))
	}
	m.record(Event{Object: name, Type: eventType, Reason: reason, Message: message})
}

func (r oldRecorder) Event(object runtime.Object, eventType, reason, message string) {
	r.manager.announce(object, eventType, reason, message)
}

func (r oldRecorder) Eventf(object runtime.Object, eventType, reason, format string, args ...any) {
	r.manager.announce(object, eventType, reason, fmt.Sprintf(format, args...))
}

func (r oldRecorder) AnnotatedEventf(
	object runtime.Object, _ map[string]string, eventType, reason, format string, args ...any,
) {
	r.Eventf(object, eventType, reason, format, args...)
}

func (r newRecorder) Eventf(object, _ runtime.Object, eventType, reason, _, format string, args ...any) { //nolint:revive // the interface's parameters
	r.manager.announce(object, eventType, reason, fmt.Sprintf(format, args...))
}

func (r newRecorder) AnnotatedEventf( //nolint:revive // the interface's parameters
	object, related runtime.Object, _ map[string]string, eventType, reason, action, format string, args ...any,
) {
	r.Eventf(object, related, eventType, reason, action, format, args...)
}

// eventLog keeps events in the order in which they came.
type eventLog struct {
	mu     sync.Mutex
	events []Event
}

func (l *eventLog) all() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

func (l *eventLog) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// startTimeout bounds the start of an instance in real time.
const startTimeout = 2 * time.Minute
