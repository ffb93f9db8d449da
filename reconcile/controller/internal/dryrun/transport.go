package dryrun

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// errNotARead is the error for requests that are not reads.
var errNotARead = errors.New("a preview only reads: refused before it was sent")

// ReadOnly is a transport that refuses requests other than reads.
type ReadOnly struct {
	http.RoundTripper
	DryRun bool // allow dry-run requests
}

// RoundTrip implements http.RoundTripper.
func (t ReadOnly) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet || t.DryRun && slices.Equal(r.URL.Query()["dryRun"], []string{"All"}) {
		return t.RoundTripper.RoundTrip(r)
	}
	return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, errNotARead)
}
