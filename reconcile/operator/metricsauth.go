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
	review func(ctx context.Context, token, verb, path string) (who authenticationv1.UserInfo, status int, err error)
	now    func() time.Time
	logger logr.Logger

	mu      sync.Mutex
	allowed map[[sha256.Size]byte]reviewed // by token, verb and path
}

// reviewed is a cached review.
type reviewed struct {
	until time.Time
	who   authenticationv1.UserInfo
}

// accountOf returns the account of an accepted request.
func accountOf(ctx context.Context) (who authenticationv1.UserInfo, known bool) {
	who, known = ctx.Value(accountKey{}).(authenticationv1.UserInfo)
	return who, known
}

type accountKey struct{}

// filterMetrics returns the filter of the metrics server for the flag -metrics-secure.
func filterMetrics(config *rest.Config, client *http.Client) (server.Filter, error) {
	clients, err := kubernetes.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("check who reads metrics: %w", err)
	}
	return func(logger logr.Logger, next http.Handler) (http.Handler, error) {
		a := &access{review: reviewer(clients), now: clock.RealClock{}.Now, logger: logger, allowed: map[[sha256.Size]byte]reviewed{}}
		return a.protect(next), nil
	}, nil
}

// reviewer returns a function that creates a TokenReview and a SubjectAccessReview for the path.
func reviewer(clients kubernetes.Interface) func(context.Context, string, string, string) (authenticationv1.UserInfo, int, error) {
	return func(ctx context.Context, token, verb, path string) (authenticationv1.UserInfo, int, error) {
		who, err := clients.AuthenticationV1().TokenReviews().Create(ctx,
			&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
		if err != nil {
			return authenticationv1.UserInfo{}, http.StatusInternalServerError, fmt.Errorf("review the token: %w", err)
		}
		user := who.Status.User
		if !who.Status.Authenticated {
			return user, http.StatusUnauthorized, nil
		}
		may, err := permitted(ctx, clients, user, authorizationv1.SubjectAccessReviewSpec{
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: verb},
		})
		switch {
		case err != nil:
			return user, http.StatusInternalServerError, err
		case !may:
			return user, http.StatusForbidden, nil
		}
		return user, http.StatusOK, nil
	}
}

// permitted reports whether the account has the permission.
func permitted(
	ctx context.Context, clients kubernetes.Interface, who authenticationv1.UserInfo, permission authorizationv1.SubjectAccessReviewSpec,
) (bool, error) {
	permission.User, permission.UID, permission.Groups = who.Username, who.UID, who.Groups
	permission.Extra = map[string]authorizationv1.ExtraValue{}
	for key, value := range who.Extra {
		permission.Extra[key] = authorizationv1.ExtraValue(value)
	}
	may, err := clients.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: permission}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("review the access of %s: %w", who.Username, err)
	}
	return may.Status.Allowed && !may.Status.Denied, nil
}

// verbOf returns the RBAC verb of a request, empty for one that is always rejected. Only the log level can be written, and a preview has a
// body.
func verbOf(method, path string) string {
	switch {
	case path == PreviewPath && method != http.MethodPost:
		return ""
	case method == http.MethodGet, method == http.MethodHead:
		return "get"
	case method == http.MethodPut && path == LogLevelPath:
		return "update"
	case method == http.MethodPost && path == PreviewPath:
		return "create"
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
		who, status := a.check(r.Context(), token, verb, r.URL.Path)
		if status != http.StatusOK {
			text := http.StatusText(status)
			if status == http.StatusForbidden {
				text += ": the account of the token needs the permission to " + verb + " the non-resource URL " + strconv.Quote(r.URL.Path)
			}
			http.Error(w, text, status)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), accountKey{}, who)))
	})
}

// check returns the account of the token, and the HTTP status for it and the path. It caches only accepted requests.
func (a *access) check(ctx context.Context, token, verb, path string) (authenticationv1.UserInfo, int) {
	key := sha256.Sum256([]byte(token + "\x00" + verb + "\x00" + path))
	if who, known := a.remembers(key); known {
		return who, http.StatusOK
	}
	ctx, cancel := context.WithTimeout(ctx, accessTimeout)
	defer cancel()
	who, status, err := a.review(ctx, token, verb, path)
	if err != nil {
		a.logger.Error(err, "refuse a request for metrics, explanations, previews or the level of the log")
	}
	if status == http.StatusOK {
		a.remember(key, who)
	}
	return who, status
}

func (a *access) remembers(key [sha256.Size]byte) (who authenticationv1.UserInfo, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := a.allowed[key]
	return kept.who, a.now().Before(kept.until)
}

func (a *access) remember(key [sha256.Size]byte, who authenticationv1.UserInfo) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.allowed) >= accessMost {
		clear(a.allowed)
	}
	a.allowed[key] = reviewed{a.now().Add(accessKept), who}
}
