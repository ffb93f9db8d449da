package main

import (
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/standin/ready"
)

// TestKilled kills the process of the operator while it writes the children of a service, when the API server has stored
// the InferenceService and the response is on its way. A new process completes the work and creates nothing twice.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills the operator")
	}
	env.Require(t)
	c := env.Client()
	applyAll(t, c, manifests(t)...)
	var counted requests.Requests
	config := proxied(t, &counted)
	binary := build(t)

	applyAll(t, c, "config/samples/demo.yaml")
	if err := ready.Everything(t.Context(), c); err != nil { // so that the first reconciliation creates the children
		t.Fatal(err)
	}
	var once sync.Once
	victim := make(chan *exec.Cmd, 1)
	counted.Inject(func(r requests.Request) (fault *requests.Fault) {
		if r.Verb == "apply" && r.Resource == "inferenceservices" {
			once.Do(func() {
				_ = (<-victim).Process.Kill() // SIGKILL
				fault = &requests.Fault{Committed: true}
			})
		}
		return fault
	})
	first, logged := start(t, binary, config)
	victim <- first
	ended := make(chan error, 1)
	go func() { ended <- first.Wait() }()
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		_ = first.Process.Kill()
		<-ended
		t.Fatalf("the operator has not applied an InferenceService:\n%s\nrequests:\n%s", logged, counted.Snapshot())
	}
	if len(counted.Snapshot().Where(requests.Verb("apply"), requests.Resource("serving.kserve.io", "inferenceservices"))) != 1 {
		t.Fatalf("the operator exited:\n%s", logged)
	}
	service := &aimv1alpha1.AIMService{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "qwen-chat"}, service); err != nil {
		t.Fatal(err)
	}
	if len(service.Status.Conditions) > 0 {
		t.Fatalf("the status was written before the operator was killed: %v", service.Status.Conditions)
	}

	second, log := start(t, binary, config)
	service = runs(t, c)
	isvcs, routes := &kserve.InferenceServiceList{}, &gatewayv1.HTTPRouteList{}
	for _, list := range []client.ObjectList{isvcs, routes} {
		if err := c.List(t.Context(), list, client.InNamespace("default")); err != nil {
			t.Fatal(err)
		}
	}
	own := 0
	for i := range isvcs.Items {
		if metav1.IsControlledBy(&isvcs.Items[i], service) {
			own++
		}
	}
	for i := range routes.Items {
		if metav1.IsControlledBy(&routes.Items[i], service) {
			own++
		}
	}
	if own != 2 {
		t.Errorf("%d children, want an InferenceService and a route:\n%v\n%v", own, isvcs.Items, routes.Items)
	}
	goes(t, c, service)
	for _, child := range []client.Object{&kserve.InferenceService{}, &gatewayv1.HTTPRoute{}} { // as the garbage collector does
		if err := c.DeleteAllOf(t.Context(), child, client.InNamespace("default")); err != nil {
			t.Fatal(err)
		}
	}
	if err := second.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := second.Wait(); err != nil {
		t.Errorf("the operator returned %v:\n%s", err, log.String())
	}
}

// proxied returns a config for a proxy of the API server, which records the requests of other processes.
func proxied(t *testing.T, counted *requests.Requests) *rest.Config {
	t.Helper()
	config := env.Config()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     counted.RoundTripper(transport),
		FlushInterval: -1, // flush at once, for watches
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(func() {
		server.CloseClientConnections() // otherwise Close waits for the watches
		server.Close()
	})
	return &rest.Config{Host: server.URL}
}
