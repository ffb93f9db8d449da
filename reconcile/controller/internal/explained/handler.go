package explained

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// explainTimeout bounds an answer over HTTP, which only looks into memory.
const explainTimeout = 10 * time.Second

// The forms of an answer, besides text.
const (
	formHTML = "html"
	formJSON = "json"
)

// Handler serves explanations of what the function returns, which is asked for each answer.
func Handler(explainers func() []*Explainer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), explainTimeout)
		defer cancel()
		answer, err := answered(ctx, r.URL.Query(), explainers())
		switch {
		case errors.Is(err, ErrUnknownKind):
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if r.URL.Query().Get("format") == formHTML {
			refresh(w.Header(), r.URL.Query().Get("refresh"))
		}
		answer.write(w, r.URL.Query().Get("format"))
	})
}

// refresh asks the browser to load the page again after so many seconds. Another value than a number of them asks for nothing.
func refresh(header http.Header, seconds string) {
	if n, err := strconv.Atoi(seconds); err == nil && n > 0 {
		header.Set("Refresh", strconv.Itoa(n))
	}
}

// answer is what is answered, in all forms.
type answer struct {
	status int
	text   string
	page   string // the template of the page
	data   any
}

func answered(ctx context.Context, query url.Values, explainers []*Explainer) (*answer, error) {
	kind, name := query.Get("kind"), query.Get("name")
	if name == "" {
		found, err := list(ctx, kind, query.Get("state"), explainers)
		return &answer{http.StatusOK, found.text(), "list", found}, err
	}
	owners, err := Of(ctx, kind, types.NamespacedName{Namespace: query.Get("namespace"), Name: name}, explainers)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	status := http.StatusNotFound
	for _, o := range owners {
		if o.Found || o.Last != nil {
			status = http.StatusOK
		}
		text.WriteString(o.String())
	}
	return &answer{status, text.String(), "owners", owners}, nil
}

func (a *answer) write(w http.ResponseWriter, form string) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	body, content := a.text, "text/plain; charset=utf-8"
	var err error
	switch form {
	case formJSON:
		var raw []byte
		raw, err = json.MarshalIndent(a.data, "", "  ")
		body, content = string(raw), "application/json"
	case formHTML:
		var page strings.Builder
		err = pages.ExecuteTemplate(&page, a.page, a.data)
		body, content = page.String(), "text/html; charset=utf-8"
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	header.Set("Content-Type", content)
	w.WriteHeader(a.status)
	_, _ = w.Write([]byte(body)) //nolint:gosec // plain text, JSON, or a page that its template has escaped
}
