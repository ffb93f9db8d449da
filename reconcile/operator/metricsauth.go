package operator

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// accessKept is how long a review is cached, so a revoked token is accepted at most that long.
	accessKept = 30 * time.Second
	// accessTimeout limits the two requests to the API server.
	accessTimeout = 10 * time.Second
	// accessMost limits the number of cached reviews. Only accepted tokens are cached.
	accessMost = 100
)

// access restricts the metrics to bearer tokens that the API server authenticates and whose user has the permission for the
// path, like the metrics of an API server.
type access struct {
	review func(ctx context.Context, token, verb, path string) (status int, err error)
	now    func() time.Time
	logger logr.Logger

	mu      sync.Mutex
	allowed map[[sha256.Size]byte]time.Time // the end of the cached review, by token, verb and path
}

// filterMetrics returns the filter of the metrics server for the flag -metrics-secure.
func filterMetrics(config *rest.Config, client *http.Client) (server.Filter, error) {
	clients, err := kubernetes.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("check who reads metrics: %w", err)
	}
	return func(logger logr.Logger, next http.Handler) (http.Handler, error) {
		a := &access{review: reviewer(clients), now: clock.RealClock{}.Now, logger: logger, allowed: map[[sha256.Size]byte]time.Time{}}
		return a.protect(next), nil
	}, nil
}

// reviewer returns a function that creates a TokenReview and a SubjectAccessReview for the path.
func reviewer(clients kubernetes.Interface) func(context.Context, string, string, string) (int, error) {
	return func(ctx context.Context, token, verb, path string) (int, error) {
		who, err := clients.AuthenticationV1().TokenReviews().Create(ctx,
			&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
		if err != nil {
			return http.StatusInternalServerError, fmt.Errorf("review the token: %w", err)
		}
		if !who.Status.Authenticated {
			return http.StatusUnauthorized, nil
		}
		extra := map[string]authorizationv1.ExtraValue{}
		for key, value := range who.Status.User.Extra {
			extra[key] = authorizationv1.ExtraValue(value)
		}
		user := who.Status.User
		may, err := clients.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
				NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: verb},
			},
		}, metav1.CreateOptions{})
		switch {
		case err != nil:
			return http.StatusInternalServerError, fmt.Errorf("review the access of %s: %w", user.Username, err)
		case may.Status.Denied || !may.Status.Allowed:
			return http.StatusForbidden, nil
		}
		return http.StatusOK, nil
	}
}

// verbOf returns the RBAC verb of a request, empty for one that is always rejected. Only the log level can be written.
func verbOf(method, path string) string {
	switch {
	case method == http.MethodGet, method == http.MethodHead:
		return "get"
	case method == http.MethodPut && path == LogLevelPath:
		return "update"
	}
	return ""
}

// protect returns a handler that checks requests before next.
func (a *access) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		verb := verbOf(r.Method, r.URL.Path)
		if verb == "" {
			http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
			return
		}
		token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if token = strings.TrimSpace(token); !bearer || token == "" {
			http.Error(w, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
			return
		}
		if status := a.check(r.Context(), token, verb, r.URL.Path); status != http.StatusOK {
			text := http.StatusText(status)
			if status == http.StatusForbidden {
				text += ": the account of the token needs the permission to " + verb + " the non-resource URL " + strconv.Quote(r.URL.Path)
			}
			http.Error(w, text, status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// check returns the HTTP status for the token and the path. It caches only accepted requests.
func (a *access) check(ctx context.Context, token, verb, path string) int {
	key := sha256.Sum256([]byte(token + "\x00" + verb + "\x00" + path))
	if a.remembers(key) {
		return http.StatusOK
	}
	ctx, cancel := context.WithTimeout(ctx, accessTimeout)
	defer cancel()
	status, err := a.review(ctx, token, verb, path)
	if err != nil {
		a.logger.Error(err, "refuse a request for metrics, explanations or the level of the log")
	}
	if status == http.StatusOK {
		a.remember(key)
	}
	return status
}

func (a *access) remembers(key [sha256.Size]byte) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now().Before(a.allowed[key])
}

func (a *access) remember(key [sha256.Size]byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.allowed) >= accessMost {
		clear(a.allowed)
	}
	a.allowed[key] = a.now().Add(accessKept)
}
