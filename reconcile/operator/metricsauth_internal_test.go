package operator

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
)

// TestAccess checks that only a token with permission to get the path reads metrics, and that only positive decisions are cached.
func TestAccess(t *testing.T) {
	t.Parallel()
	now, asked := time.Now(), 0
	a := &access{
		now: func() time.Time { return now }, logger: logr.Discard(), allowed: map[[sha256.Size]byte]reviewed{},
		review: func(_ context.Context, token, verb, path string) (who authenticationv1.UserInfo, status int, err error) {
			asked++
			who.Username = token
			switch {
			case token == "broken":
				return who, http.StatusInternalServerError, errors.New("connection refused")
			case token != "good":
				return who, http.StatusUnauthorized, nil
			case path != "/metrics", verb != "get":
				return who, http.StatusForbidden, nil
			}
			return who, http.StatusOK, nil
		},
	}
	handler := a.protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who, _ := accountOf(r.Context()); who.Username == "good" {
			_, _ = w.Write([]byte("up 1"))
		}
	}))
	for _, c := range []struct {
		name, method, path, header string
		later                      time.Duration
		want, asked                int
	}{
		{"no header", http.MethodGet, "/metrics", "", 0, http.StatusUnauthorized, 0},
		{"basic", http.MethodGet, "/metrics", "Basic good", 0, http.StatusUnauthorized, 0},
		{"empty token", http.MethodGet, "/metrics", "Bearer  ", 0, http.StatusUnauthorized, 0},
		{"unknown token", http.MethodGet, "/metrics", "Bearer bad", 0, http.StatusUnauthorized, 1},
		{"no answer", http.MethodGet, "/metrics", "Bearer broken", 0, http.StatusInternalServerError, 1},
		{"post", http.MethodPost, "/metrics", "Bearer good", 0, http.StatusMethodNotAllowed, 0},
		{"put", http.MethodPut, "/metrics", "Bearer good", 0, http.StatusMethodNotAllowed, 0},
		{"put a level", http.MethodPut, LogLevelPath, "Bearer good", 0, http.StatusForbidden, 1},
		{"get a preview", http.MethodGet, PreviewPath, "Bearer good", 0, http.StatusMethodNotAllowed, 0},
		{"post a preview", http.MethodPost, PreviewPath, "Bearer good", 0, http.StatusForbidden, 1},
		{"good", http.MethodGet, "/metrics", "Bearer good", 0, http.StatusOK, 1},
		{"remembered", http.MethodGet, "/metrics", "Bearer good", accessKept - time.Second, http.StatusOK, 0},
		{"another path", http.MethodGet, "/explain", "Bearer good", 0, http.StatusForbidden, 1},
		{"not remembered", http.MethodGet, "/metrics", "Bearer bad", 0, http.StatusUnauthorized, 1},
		{"asked again", http.MethodGet, "/metrics", "Bearer good", accessKept, http.StatusOK, 1},
	} {
		now = now.Add(c.later)
		asked = 0
		request := httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil)
		request.Header.Set("Authorization", c.header)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if answer.Code != c.want || asked != c.asked {
			t.Errorf("%s: status %d after %d requests, want %d after %d", c.name, answer.Code, asked, c.want, c.asked)
		}
		if names := strings.Contains(answer.Body.String(), ` the non-resource URL "`+c.path+`"`); names != (c.want == http.StatusForbidden) {
			t.Errorf("%s: the body %q names the missing permission: %t", c.name, answer.Body, names)
		}
		if read := answer.Body.String() == "up 1"; read != (c.want == http.StatusOK) {
			t.Errorf("%s: body %q", c.name, answer.Body)
		}
	}
}
