package controller

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

// ExplainPath is the path at which an operator usually serves [ExplainHandler].
const ExplainPath = "/debug/explain"

// explainTimeout bounds an answer over HTTP, which only looks into memory.
const explainTimeout = 10 * time.Second

// The forms of an answer, besides text.
const (
	formHTML = "html"
	formJSON = "json"
)

// ExplainHandler serves explanations of the controllers' owners. GET with the parameters kind, namespace and name answers with the tree of
// one owner. Without a name it lists the owners, at most 500, those that are not ready first; kind and state, such as NotReady, choose
// among them. The answer is text; format=json asks for the data, format=html for a page with links, which loads itself anew every few seconds
// with refresh=5, at least every second.
//
// Nothing serves it unless the operator does so. Explanations name objects, field managers and what the API server said: serve them
// behind authentication, such as that of the metrics server, with manager.AddMetricsServerExtraHandler, which filters extra handlers like
// the metrics where metrics are filtered.
func ExplainHandler(controllers ...Declared) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), explainTimeout)
		defer cancel()
		answer, err := answered(ctx, r.URL.Query(), controllers)
		switch {
		case errors.Is(err, errUnknownKind):
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

func answered(ctx context.Context, query url.Values, controllers []Declared) (*answer, error) {
	kind, name := query.Get("kind"), query.Get("name")
	if name == "" {
		found, err := list(ctx, kind, query.Get("state"), controllers)
		return &answer{http.StatusOK, found.text(), "list", found}, err
	}
	owners, err := Explain(ctx, kind, types.NamespacedName{Namespace: query.Get("namespace"), Name: name}, controllers...)
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
