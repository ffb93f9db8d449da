package dryrun_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/dryrun"
)

// A dry run of the API server passes only where it is allowed.
func ExampleReadOnly() {
	sent := http.RoundTripper(roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{Status: "200 OK", Body: http.NoBody}, nil
	}))
	for _, dry := range []bool{false, true} {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodPatch, "/api/v1/namespaces/shop?dryRun=All", http.NoBody)
		if err != nil {
			fmt.Println(err)
			return
		}
		response, err := dryrun.ReadOnly{RoundTripper: sent, DryRun: dry}.RoundTrip(request)
		if err != nil {
			fmt.Println(err)
			continue
		}
		_ = response.Body.Close()
		fmt.Println(response.Status)
	}
	// Output:
	// PATCH /api/v1/namespaces/shop: a preview only reads: refused before it was sent
	// 200 OK
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
