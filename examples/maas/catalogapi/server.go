package catalogapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
)

// Server answers requests.
type Server struct {
	// Reader reads MaaSSubscriptions, MaaSModelRefs and Gateways from the caches.
	Reader client.Reader
	// SubscriptionNamespace is the namespace of the subscriptions.
	SubscriptionNamespace string
	// Prober checks whether a caller may use a model.
	Prober *Prober
	// Timeout limits the time for all probes of one request.
	Timeout time.Duration
}

// The types of errors.
const (
	authenticationError = "authentication_error"
	permissionError     = "permission_error"
	invalidRequest      = "invalid_request_error"
	serverError         = "server_error"
)

// failure is an error that the client receives.
type failure struct {
	code          int
	kind, message string
}

func (f failure) Error() string { return f.message }

// Handler serves the endpoints for users. It trusts the identity in the headers, so only the gateway may reach it.
func (s *Server) Handler() http.Handler {
	return route(func(method, path string) handle {
		if method != http.MethodGet {
			return nil
		}
		switch path {
		case "/v1/models":
			return asUser(s.models)
		case "/v1/subscriptions":
			return asUser(s.subscriptions)
		case "/health":
			return health
		}
		id, found := strings.CutPrefix(path, "/v1/model/")
		id, of := strings.CutSuffix(id, "/subscriptions")
		if !found || !of || strings.ContainsAny(id, "/%") {
			return nil
		}
		return asUser(func(w http.ResponseWriter, r *http.Request, u user) error { return s.subscriptionsOf(w, r, u, id) })
	})
}

// Endpoints lists the endpoints of both handlers.
func Endpoints() []dataflow.Endpoint {
	endpoint := func(method, path string) dataflow.Endpoint {
		return dataflow.Endpoint{Method: method, Path: path, Source: "maas/catalogapi/server.go"}
	}
	return []dataflow.Endpoint{
		endpoint(http.MethodGet, "/health"),
		endpoint(http.MethodPost, "/internal/v1/subscriptions/select"),
		endpoint(http.MethodGet, "/metrics"),
		endpoint(http.MethodGet, "/v1/model/:model-id/subscriptions"),
		endpoint(http.MethodGet, "/v1/models"),
		endpoint(http.MethodGet, "/v1/subscriptions"),
	}
}

// InternalHandler serves the endpoints that only the authorization of the gateway and the monitoring may reach.
func (s *Server) InternalHandler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics := promhttp.InstrumentMetricHandler(registry, promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	return route(func(method, path string) handle {
		switch method + " " + path {
		case "POST /internal/v1/subscriptions/select":
			return s.selectOne
		case "GET /metrics":
			return func(w http.ResponseWriter, r *http.Request) error {
				metrics.ServeHTTP(w, r)
				return nil
			}
		case "GET /health":
			return health
		}
		return nil
	})
}

type handle func(http.ResponseWriter, *http.Request) error

// route calls the endpoint for a method and an escaped path. OPTIONS returns no content on every path; a trailing slash is
// redirected.
func route(find func(method, path string) handle) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		call := find(r.Method, path)
		without := strings.TrimSuffix(path, "/")
		switch {
		case r.Method == http.MethodOptions:
			w.WriteHeader(http.StatusNoContent)
		case call != nil:
			if err := call(w, r); err != nil {
				refuse(w, err)
			}
		case without != path && !strings.HasPrefix(path, "//") && find(r.Method, without) != nil:
			code := http.StatusTemporaryRedirect
			if r.Method == http.MethodGet {
				code = http.StatusMovedPermanently
			}
			http.Redirect(w, r, without, code) //nolint:gosec // without is a path of this server
		default:
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte("404 page not found"))
		}
	})
}

// refuse writes an error. An error that is not a failure becomes an internal server error.
func refuse(w http.ResponseWriter, err error) {
	f := failure{http.StatusInternalServerError, serverError, err.Error()}
	errors.As(err, &f)
	answer(w, f.code, map[string]any{"error": map[string]string{"message": f.message, "type": f.kind}})
}

func answer(w http.ResponseWriter, code int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(text)
}

func health(w http.ResponseWriter, _ *http.Request) error {
	answer(w, http.StatusOK, map[string]string{"status": "healthy"})
	return nil
}

// user is the identity of the caller.
type user struct {
	name   string
	groups []string
}

// asUser reads the identity that the gateway has set. Each header must occur exactly once: the client could have sent a second one.
func asUser(call func(http.ResponseWriter, *http.Request, user) error) handle {
	return func(w http.ResponseWriter, r *http.Request) error {
		u, err := identity(r.Header)
		if err != nil {
			return failure{http.StatusUnauthorized, authenticationError, err.Error()}
		}
		return call(w, r, u)
	}
}

func identity(header http.Header) (u user, err error) {
	values := map[string]string{}
	for _, name := range []string{"X-Maas-Username", "X-Maas-Group"} {
		lines := header.Values(name)
		if len(lines) != 1 || strings.TrimSpace(lines[0]) == "" {
			return u, fmt.Errorf("header %s: got %d lines, want one with a value", name, len(lines))
		}
		values[name] = strings.TrimSpace(lines[0])
	}
	u.name = values["X-Maas-Username"]
	if err := json.Unmarshal([]byte(values["X-Maas-Group"]), &u.groups); err != nil || u.groups == nil {
		return u, errors.New("header X-Maas-Group: want a JSON array of strings")
	}
	return u, nil
}

// mayUse reports whether the user owns a subscription, directly or by a group.
func (u user) mayUse(s *v1alpha1.MaaSSubscription) bool {
	return slices.Contains(s.Spec.Owner.Users, u.name) || slices.ContainsFunc(s.Spec.Owner.Groups, func(owner v1alpha1.GroupReference) bool {
		return slices.ContainsFunc(u.groups, func(group string) bool { return strings.TrimSpace(group) == owner.Name })
	})
}

// usable reports whether a subscription is usable.
func usable(s *v1alpha1.MaaSSubscription) bool {
	phase := phaseOf(s)
	return s.DeletionTimestamp.IsZero() && (phase == active || phase == degraded)
}

// list returns the subscriptions with a spec, sorted by name.
func (s *Server) list(ctx context.Context) ([]*v1alpha1.MaaSSubscription, error) {
	var list v1alpha1.MaaSSubscriptionList
	if err := s.Reader.List(ctx, &list, client.InNamespace(s.SubscriptionNamespace)); err != nil {
		return nil, err
	}
	var out []*v1alpha1.MaaSSubscription
	for i := range list.Items {
		if list.Items[i].Spec != nil {
			out = append(out, &list.Items[i])
		}
	}
	slices.SortFunc(out, func(a, b *v1alpha1.MaaSSubscription) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// listed returns the usable subscriptions of a user that satisfy the predicate, in the format of the API.
func (s *Server) listed(ctx context.Context, u user, is func(*v1alpha1.MaaSSubscription) bool) ([]item, error) {
	all, err := s.list(ctx)
	if err != nil {
		return nil, failure{http.StatusInternalServerError, serverError, "Failed to list subscriptions"}
	}
	out := []item{}
	for _, one := range all {
		if usable(one) && u.mayUse(one) && is(one) {
			out = append(out, itemOf(one))
		}
	}
	return out, nil
}

func (s *Server) subscriptions(w http.ResponseWriter, r *http.Request, u user) error {
	items, err := s.listed(r.Context(), u, func(*v1alpha1.MaaSSubscription) bool { return true })
	if err == nil {
		answer(w, http.StatusOK, items)
	}
	return err
}

func (s *Server) subscriptionsOf(w http.ResponseWriter, r *http.Request, u user, model string) error {
	if model == "" {
		return failure{http.StatusBadRequest, invalidRequest, "model-id is required"}
	}
	items, err := s.listed(r.Context(), u, func(one *v1alpha1.MaaSSubscription) bool {
		return slices.ContainsFunc(one.Spec.ModelRefs, func(ref v1alpha1.ModelSubscriptionRef) bool { return ref.Name == model })
	})
	if err == nil {
		answer(w, http.StatusOK, items)
	}
	return err
}
