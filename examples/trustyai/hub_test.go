package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// recorder is an HTTP server that records its requests.
type recorder struct {
	mu       sync.Mutex
	requests []any
	server   *httptest.Server
	refuses  bool
}

func newRecorder(t *testing.T, status int) *recorder {
	t.Helper()
	if status == 0 {
		status = http.StatusNoContent
	}
	r := &recorder{refuses: status >= http.StatusBadRequest}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		var content any
		_ = json.Unmarshal(body, &content)
		headers := map[string]any{}
		for name := range request.Header {
			headers[name] = request.Header.Get(name)
		}
		r.mu.Lock()
		r.requests = append(r.requests, map[string]any{"method": request.Method, "path": request.URL.Path, "headers": headers, "json": content})
		r.mu.Unlock()
		w.WriteHeader(status)
	}))
	t.Cleanup(r.server.Close)
	return r
}

func (r *recorder) address() string {
	if r == nil {
		return ""
	}
	return r.server.URL
}

// check compares the first requests with the expected ones. More may follow, because requests that the server rejects
// are retried.
func (r *recorder) check(wanted []any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sent := len(r.requests); sent < len(wanted) || sent > len(wanted) && (!r.refuses || len(wanted) == 0) {
		return fmt.Errorf("%d requests were sent, want %d: %s", sent, len(wanted), text(r.requests))
	}
	for i := range wanted {
		if err := match(wanted[i], r.requests[i], "request"); err != nil {
			return err
		}
	}
	return nil
}

// pin restores a status until the case ends.
func (p *player) pin(given map[string]any) {
	ctx, stop := context.WithCancel(p.Context())
	ended := make(chan struct{})
	p.Cleanup(func() { stop(); <-ended })
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			_ = p.patch(given, true) // retried soon
			time.Sleep(100 * time.Millisecond)
		}
	}()
}

// resolve sets the UIDs of owner references.
func (p *player) resolve(u *unstructured.Unstructured) {
	p.Helper()
	owners := u.GetOwnerReferences()
	for i := range owners {
		if owners[i].UID == "{uid}" {
			owner := &unstructured.Unstructured{}
			owner.SetAPIVersion(owners[i].APIVersion)
			owner.SetKind(owners[i].Kind)
			p.must(p.Get(p.Context(), client.ObjectKey{Namespace: u.GetNamespace(), Name: owners[i].Name}, owner))
			owners[i].UID = owner.GetUID()
		}
	}
	if len(owners) > 0 {
		u.SetOwnerReferences(owners)
	}
}
