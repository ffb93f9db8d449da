package catalogapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/maas/catalogapi"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// TestIdentity checks that an identity header is accepted only if it occurs exactly once, and that a user may have no
// groups.
func TestIdentity(t *testing.T) {
	t.Parallel()
	const username, group = "X-Maas-Username", "X-Maas-Group"
	server := &catalogapi.Server{Reader: cacheOf(t, nil), SubscriptionNamespace: "s"}
	got, want := map[string]int{}, map[string]int{}
	for name, tc := range map[string]struct {
		header http.Header
		want   int
	}{
		"one header line each": {http.Header{username: {"ann"}, group: {`["a"]`}}, http.StatusOK},
		"no groups":            {http.Header{username: {"ann"}, group: {`[]`}}, http.StatusOK},
		"a second user":        {http.Header{username: {"root", "ann"}, group: {`["a"]`}}, http.StatusUnauthorized},
		"one user twice":       {http.Header{username: {"ann", "ann"}, group: {`["a"]`}}, http.StatusUnauthorized},
		"a second group":       {http.Header{username: {"ann"}, group: {`["admins"]`, `["a"]`}}, http.StatusUnauthorized},
		"groups are missing":   {http.Header{username: {"ann"}}, http.StatusUnauthorized},
		"groups are null":      {http.Header{username: {"ann"}, group: {`null`}}, http.StatusUnauthorized},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/subscriptions", nil)
		for name, lines := range tc.header {
			for _, line := range lines {
				r.Header.Add(name, line)
			}
		}
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, r)
		got[name], want[name] = w.Code, tc.want
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status codes (-want +got):\n%s", diff)
	}
}

// TestEndpoints checks that the server serves each endpoint of the page.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	server := &catalogapi.Server{Reader: cacheOf(t, nil), SubscriptionNamespace: "s"}
	for _, endpoint := range catalogapi.Endpoints() {
		served := false
		for _, handler := range []http.Handler{server.Handler(), server.InternalHandler()} {
			w := httptest.NewRecorder()
			path := strings.ReplaceAll(endpoint.Path, ":model-id", "chat")
			handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), endpoint.Method, path, strings.NewReader("{}")))
			served = served || w.Code != http.StatusNotFound
		}
		if !served {
			t.Errorf("%s %s is not served", endpoint.Method, endpoint.Path)
		}
	}
}

// TestPaths checks that users can reach neither the selection endpoint nor the metrics.
func TestPaths(t *testing.T) {
	t.Parallel()
	server := &catalogapi.Server{Reader: cacheOf(t, nil), SubscriptionNamespace: "s"}
	got := map[string]int{}
	want := map[string]int{
		"POST /internal/v1/subscriptions/select": http.StatusNotFound, "GET /metrics": http.StatusNotFound, "GET /health": http.StatusOK,
		"GET /health/": http.StatusMovedPermanently, "HEAD /health": http.StatusNotFound, "POST /health/": http.StatusNotFound,
		"GET /v1/model//subscriptions": http.StatusBadRequest, "GET /v1/api-keys": http.StatusNotFound, "GET //example.com/": http.StatusNotFound,
	}
	for call := range want {
		method, path, _ := strings.Cut(call, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, "/", nil)
		r.URL = &url.URL{Path: path}
		r.Header.Set("X-Maas-Username", "ann")
		r.Header.Set("X-Maas-Group", "[]")
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, r)
		got[call] = w.Code
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status codes (-want +got):\n%s", diff)
	}
}

// TestTokens checks that a token is sent only to trusted hosts, also after a redirect, and only to servers with a
// verified certificate.
func TestTokens(t *testing.T) {
	t.Parallel()
	var reached []string
	record := func(name string, next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			reached = append(reached, name)
			next(w, r)
		}
	}
	list := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":[{"id":"m"}]}`)) }
	elsewhere := httptest.NewServer(record("elsewhere", list))
	defer elsewhere.Close()
	gateway := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer gateway.Close()
	unverified := httptest.NewTLSServer(record("unverified", list))
	defer unverified.Close()
	prober := catalogapi.NewProber(func(_ context.Context, u *url.URL) bool { return "http://"+u.Host != elsewhere.URL }, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, endpoint := range []string{elsewhere.URL, gateway.URL, unverified.URL} {
		if models := prober.Probe(ctx, endpoint, "Bearer t", "s"); models != nil {
			t.Errorf("%s: got %v, want no models", endpoint, models)
		}
	}
	if reached != nil {
		t.Errorf("the token was sent to %v", reached)
	}
}

// TestGatewayHost checks that a URL belongs to the gateway only if its scheme is https and its host is that of a
// listener or an address.
func TestGatewayHost(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := models.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	name := types.NamespacedName{Namespace: "n", Name: "g"}
	gateway := &gatewayv1.Gateway{}
	gateway.Namespace, gateway.Name = name.Namespace, name.Name
	host, wild := gatewayv1.Hostname("gw.example.com"), gatewayv1.Hostname("*.models.example.com")
	gateway.Spec.Listeners = []gatewayv1.Listener{{Name: "a", Hostname: &host}, {Name: "b", Hostname: &wild}, {Name: "c"}}
	gateway.Status.Addresses = []gatewayv1.GatewayStatusAddress{{Value: "192.0.2.1"}}
	is := catalogapi.OfGateway(fake.NewClientBuilder().WithScheme(scheme).WithObjects(gateway).Build(), name)
	got := map[string]bool{}
	want := map[string]bool{
		"https://gw.example.com/llm/m": true, "https://GW.example.com:8443/m": true, "https://a.models.example.com": true,
		"https://192.0.2.1/m":     true,
		"http://gw.example.com/m": false, "https://gw.example.com.evil.test/m": false, "https://models.example.com": false,
		"https://evilmodels.example.com": false, "https://192.0.2.2/m": false,
	}
	for text := range want {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got[text] = is(t.Context(), u)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("URLs of the gateway (-want +got):\n%s", diff)
	}
}
