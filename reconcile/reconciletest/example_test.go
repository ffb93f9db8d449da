package reconciletest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// server stands in for the transport of a rest.Config.
type server struct{}

func (server) RoundTrip(request *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}")), Request: request}, nil
}

func send(transport http.RoundTripper, method, path string) error {
	request, err := http.NewRequest(method, "https://server"+path, nil)
	if err != nil {
		return err
	}

	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}

	return response.Body.Close()
}

// In a test the transport comes from requests.Observe(env.Config()).
func ExampleRequests() {
	var requests reconciletest.Requests

	transport := requests.RoundTripper(server{})

	for _, path := range []string{"/api/v1/configmaps?watch=true", "/api/v1/namespaces/shop/configmaps/web"} {
		if err := send(transport, http.MethodGet, path); err != nil {
			fmt.Println(err)
		}
	}

	fmt.Println(requests.Snapshot())
	fmt.Println("of its own:", requests.Snapshot().WithoutInformers())
	fmt.Println("writes:", requests.Snapshot().Writes())
	// Output:
	// 1 get configmaps
	// 1 watch configmaps
	// of its own: 1 get configmaps
	// writes: no requests
}

// The write reaches the server, and the client does not learn of it.
func ExampleRequests_Inject() {
	var requests reconciletest.Requests

	transport := requests.RoundTripper(server{})

	requests.Inject(func(request reconciletest.Request) *reconciletest.Fault {
		if request.IsWrite() {
			return &reconciletest.Fault{Err: errors.New("answer lost"), Committed: true}
		}

		return nil
	})

	fmt.Println(send(transport, http.MethodDelete, "/api/v1/namespaces/shop/configmaps/web"))
	fmt.Println(requests.Snapshot())
	// Output:
	// answer lost
	// 1 delete configmaps
}

func ExampleSent_Where() {
	sent := reconciletest.Sent{
		{Verb: "apply", Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web"},
		{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "shop", Name: "web"},
		{Verb: "apply", Resource: "services", Namespace: "shop", Name: "web"},
	}

	for _, request := range sent.Where(reconciletest.Resource("apps", "deployments"), reconciletest.Subresource("")) {
		fmt.Println(request)
	}
	// Output:
	// apply apps/deployments shop/web
}

// In a test the entries come from the AuditLog of an Environment.
func ExampleAuditEntries_Where() {
	entries := reconciletest.AuditEntries{
		{
			Request: reconciletest.Request{Verb: "create", Group: "events.k8s.io", Resource: "events", Namespace: "shop"},
			User:    "system:serviceaccount:shop:operator", Code: http.StatusForbidden,
		},
		{
			Request: reconciletest.Request{Verb: "list", Resource: "pods"},
			User:    "system:apiserver", Code: http.StatusOK,
		},
	}

	fmt.Println(entries.Where(
		reconciletest.User("system:serviceaccount:shop:operator"),
		reconciletest.Asked(reconciletest.Verb("create"), reconciletest.Resource("events.k8s.io", "events")),
	))
	// Output:
	// 1 create events.k8s.io/events shop by system:serviceaccount:shop:operator: 403
}

// The files were written by a running operator whose builder has a recorder in its Options.
func ExampleReplay() {
	var t *testing.T // of the test function
	reconciletest.Replay(t, reconciletest.System{
		Setup:    shopSystem().Setup, // what main calls with its manager
		Scheme:   widgetScheme(),
		CRDPaths: []string{"config/crd"},
	}, "testdata/shop-default-web-20260102T030405.000000000Z.json")
}
