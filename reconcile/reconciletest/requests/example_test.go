package requests_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// server is a fake transport of a rest.Config.
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

// In a test the transport comes from sent.Observe(env.Config()).
func ExampleRequests() {
	var sent requests.Requests

	transport := sent.RoundTripper(server{})

	for _, path := range []string{"/api/v1/configmaps?watch=true", "/api/v1/namespaces/shop/configmaps/web"} {
		if err := send(transport, http.MethodGet, path); err != nil {
			fmt.Println(err)
		}
	}

	fmt.Println(sent.Snapshot())
	fmt.Println("of its own:", sent.Snapshot().WithoutInformers())
	fmt.Println("writes:", sent.Snapshot().Writes())
	// Output:
	// 1 get configmaps
	// 1 watch configmaps
	// of its own: 1 get configmaps
	// writes: no requests
}

// The write reaches the server, but the client receives an error.
func ExampleRequests_Inject() {
	var sent requests.Requests

	transport := sent.RoundTripper(server{})

	sent.Inject(func(request requests.Request) *requests.Fault {
		if request.IsWrite() {
			return &requests.Fault{Err: errors.New("answer lost"), Committed: true}
		}

		return nil
	})

	fmt.Println(send(transport, http.MethodDelete, "/api/v1/namespaces/shop/configmaps/web"))
	fmt.Println(sent.Snapshot())
	// Output:
	// answer lost
	// 1 delete configmaps
}

func ExampleSent_Where() {
	sent := requests.Sent{
		{Verb: "apply", Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web"},
		{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "shop", Name: "web"},
		{Verb: "apply", Resource: "services", Namespace: "shop", Name: "web"},
	}

	for _, request := range sent.Where(requests.Resource("apps", "deployments"), requests.Subresource("")) {
		fmt.Println(request)
	}
	// Output:
	// apply apps/deployments shop/web
}
