package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlrecorder "sigs.k8s.io/controller-runtime/pkg/recorder"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/external"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/passlog"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
)

// TestManager is the manager that [System.Setup] receives: the parts of a real one that controllers use, over the cluster.
type TestManager struct {
	cluster   *cluster.Cluster
	view      *view.View
	wire      *transport.Wire
	client    client.Client
	runnables []manager.Runnable
	webhooks  webhook.Server
	converter conversion.Registry
	elected   chan struct{}
	record    func(Event)
	log       *passlog.Log
}

var _ manager.Manager = (*TestManager)(nil)

// NewManager returns the manager of one instance. It passes events to record.
func NewManager(w *cluster.Cluster, v *view.View, wire *transport.Wire, record func(Event), log *passlog.Log) *TestManager {
	elected := make(chan struct{})
	close(elected)
	return &TestManager{
		cluster: w, view: v, wire: wire, client: &cachedClient{Client: wire.Client, cache: v, mapper: w.ServedMapper(), wire: wire}, elected: elected,
		converter: conversion.NewRegistry(), record: record, log: log,
	}
}

// cachedClient reads from the cache as a manager's client does: all except unstructured objects.
type cachedClient struct {
	client.Client
	cache  client.Reader
	mapper meta.RESTMapper
	wire   *transport.Wire
}

// answered records a read that the cache can never answer, because it contains only a part of the data.
func (c *cachedClient) answered(into runtime.Object, err error) error {
	var part *view.PartialError
	if errors.As(err, &part) {
		gvk, _ := apiutil.GVKForObject(into, c.Scheme()) // the cache knows it
		gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
		c.wire.Unread(gvk, part.What)
	}
	return err
}

// RESTMapper implements client.Client.
func (c *cachedClient) RESTMapper() meta.RESTMapper { return c.mapper }

func (c *cachedClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if _, live := obj.(runtime.Unstructured); live {
		return c.Client.Get(ctx, key, obj, opts...)
	}
	return c.answered(obj, c.cache.Get(ctx, key, obj, opts...))
}

func (c *cachedClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, live := list.(runtime.Unstructured); live {
		return c.Client.List(ctx, list, opts...)
	}
	return c.answered(list, c.cache.List(ctx, list, opts...))
}

// Add adds a controller or another runnable; all start after Setup has returned.
func (m *TestManager) Add(runnable manager.Runnable) error {
	m.runnables = append(m.runnables, runnable)
	return nil
}

// GetClock returns the clock of the test, which moves only when the operator is idle.
func (m *TestManager) GetClock() clock.PassiveClock { return m.cluster.Clock }

// Outside returns the external dependencies of its cluster.
func (m *TestManager) Outside() any { return m.cluster.Outside }

// ExternalClaims returns the claims of external resources. The cluster keeps them when an instance ends.
func (m *TestManager) ExternalClaims() external.Claims { return &m.cluster.Outer }

// GetCache returns the cache of the instance.
func (m *TestManager) GetCache() cache.Cache { return m.view }

// GetClient returns a client that reads from the cache, like that of a manager.
func (m *TestManager) GetClient() client.Client { return m.client }

// GetAPIReader returns a reader without a cache.
func (m *TestManager) GetAPIReader() client.Reader { return m.wire.Client }

// GetScheme returns System.Scheme.
func (m *TestManager) GetScheme() *runtime.Scheme { return m.cluster.Scheme }

// GetRESTMapper returns a mapper of the served kinds.
func (m *TestManager) GetRESTMapper() meta.RESTMapper { return m.cluster.ServedMapper() }

// GetFieldIndexer returns an indexer of the cache.
func (m *TestManager) GetFieldIndexer() client.FieldIndexer { return m.view }

// GetLogger returns a logger that the test can read.
func (m *TestManager) GetLogger() logr.Logger { return m.log.Logger() }

// Elected returns a closed channel: the instance leads from the start.
func (m *TestManager) Elected() <-chan struct{} { return m.elected }

// GetConverterRegistry returns a registry that is not used.
func (m *TestManager) GetConverterRegistry() conversion.Registry { return m.converter }

// AddMetricsServerExtraHandler implements manager.Manager. The handler is not used.
func (*TestManager) AddMetricsServerExtraHandler(string, http.Handler) error { return nil }

// AddHealthzCheck implements manager.Manager.
func (*TestManager) AddHealthzCheck(string, healthz.Checker) error { return nil }

// AddReadyzCheck implements manager.Manager.
func (*TestManager) AddReadyzCheck(string, healthz.Checker) error { return nil }

// Start blocks until the context ends; the test starts the runnables.
func (*TestManager) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// GetWebhookServer returns a server that is never started.
func (m *TestManager) GetWebhookServer() webhook.Server {
	if m.webhooks == nil {
		m.webhooks = webhook.NewServer(webhook.Options{})
	}
	return m.webhooks
}

// GetControllerOptions returns options that allow every instance to use the same names.
func (*TestManager) GetControllerOptions() config.Controller {
	yes := true
	return config.Controller{SkipNameValidation: &yes, CacheSyncTimeout: startTimeout}
}

// GetConfig returns a configuration that only supports discovery. Use GetClient and GetAPIReader for everything else.
func (m *TestManager) GetConfig() *rest.Config {
	if m.cluster.Fake == nil {
		return m.cluster.System.Environment.Config()
	}
	return &rest.Config{Host: "http://fake.invalid", Transport: discovery{m.cluster}}
}

// GetHTTPClient returns the client for GetConfig.
func (m *TestManager) GetHTTPClient() *http.Client {
	if m.cluster.Fake == nil {
		if c, err := rest.HTTPClientFor(m.GetConfig()); err == nil {
			return c
		}
	}
	return &http.Client{Transport: discovery{m.cluster}}
}

// discovery is a transport that serves discovery of the fake API server.
type discovery struct{ cluster *cluster.Cluster }

// RoundTrip answers /api/v1 and /apis/<group>/<version>.
func (d discovery) RoundTrip(request *http.Request) (*http.Response, error) {
	path := strings.Trim(request.URL.Path, "/")
	version := strings.TrimPrefix(strings.TrimPrefix(path, "apis/"), "api/")
	list := metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version,
	}
	gv, err := schema.ParseGroupVersion(version)
	for _, gvk := range d.cluster.Fake.Kinds() {
		if err == nil && gvk.GroupVersion() == gv && d.cluster.Served(gvk.GroupKind()) == nil {
			one := metav1.APIResource{Name: d.cluster.Resource(gvk).Resource, Kind: gvk.Kind, Namespaced: !d.cluster.Fake.ClusterScoped(gvk)}
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

// Event is an event of a controller.
type Event struct {
	// Object names the object, for example "Website default/shop".
	Object string
	// Type is Normal or Warning.
	Type string
	// Reason is one CamelCase word, Message a sentence.
	Reason, Message string
}

// Repeats reports whether an earlier event has the same content, except for numbers in the message.
func Repeats(e, other Event) bool {
	return e.Object == other.Object && e.Type == other.Type && e.Reason == other.Reason
}

// recorders pass events to the test. The old and the new API differ only in their arguments.
type (
	oldRecorder struct{ manager *TestManager }
	newRecorder struct{ manager *TestManager }
)

var (
	_ record.EventRecorder       = oldRecorder{}
	_ ctrlrecorder.EventRecorder = newRecorder{}
)

// GetEventRecorderFor implements recorder.Provider.
func (m *TestManager) GetEventRecorderFor(string) record.EventRecorder { return oldRecorder{m} }

// GetEventRecorder implements recorder.Provider.
func (m *TestManager) GetEventRecorder(string) ctrlrecorder.EventRecorder { return newRecorder{m} }

func (m *TestManager) announce(object runtime.Object, eventType, reason, message string) {
	name := fmt.Sprintf("%T", object)
	if obj, ok := object.(client.Object); ok {
		name = objects.Name(m.wire.About("", "", obj, "", nil).GVK, client.ObjectKeyFromObject(obj))
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

// eventLog records events in order.
type eventLog struct {
	mu     sync.Mutex
	Events []Event
}

func (l *eventLog) All() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.Events)
}

func (l *eventLog) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Events = append(l.Events, e)
}

// startTimeout is the timeout for starting an instance, in real time.
const startTimeout = 2 * time.Minute
